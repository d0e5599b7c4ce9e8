import type { AgentEnd } from '../agent-end.ts'
import type { AgentCore } from '../agent-core.ts'
import type { Capabilities } from '../capabilities.ts'
import { reasonOf } from '../errors.ts'
import type { TakenUpgrade } from '../state/agent-state.ts'
import { isOpen } from './upgrades.ts'

/** What the first minutes of an upgraded agent need. */
export interface ConfirmDeps {
  readonly core: Pick<AgentCore, 'member' | 'binary' | 'clock' | 'log' | 'keeper' | 'ending' | 'upgrading'>
  readonly capabilities: Pick<Capabilities, 'report'>
  readonly stop: (how: AgentEnd) => void
}

/** So long an upgraded agent has to report to the server. Then the one before comes back. */
export const TRIAL_MS = 180_000
const AGAIN_MS = 1_000

/**
 * Ends what an earlier run of the agent has begun: an upgraded agent is confirmed once the server has its report. One that cannot
 * report in time, and is not watched by the one before, brings it back itself.
 */
export async function confirmUpgrade(deps: ConfirmDeps): Promise<void> {
  const { core } = deps
  const { member, upgrading } = core
  if (!isOpen(member.upgrade) || upgrading?.file === undefined) return
  const running = await core.binary()
  if (running.checksum !== member.upgrade.checksum)
    return bringBack(deps, running.checksum, 'the agent was restarted while it was upgraded')
  const isReported = await reported(deps)
  if (isReported) await confirm(deps, member.upgrade)
  if (!isReported && !core.ending.signal.aborted)
    await bringBack(deps, running.checksum, `the new agent did not report within ${TRIAL_MS / 1000} s`)
}

/**
 * Ends an agent whose watcher was killed: the service manager starts the next one, which needs its lock. Calls to a server that is away
 * are not waited for.
 */
export async function endOrphan({ core, stop }: Pick<ConfirmDeps, 'core' | 'stop'>): Promise<void> {
  const { clock, ending, upgrading, log } = core
  while (upgrading?.isWatched() === true && !ending.signal.aborted) await clock.pause(AGAIN_MS, ending.signal)
  if (ending.signal.aborted || upgrading?.isOrphan() !== true) return
  log.line('upgrade: the agent that watched this one has ended; the service manager starts the next one')
  stop('stopped')
}

/** The one that watches ends this one, which is then started without a watcher. */
async function confirm({ core: { member, log, keeper } }: ConfirmDeps, upgrade: TakenUpgrade): Promise<void> {
  member.upgrade = { ...upgrade, is_confirmed: true }
  log.line(`upgrade: ${upgrade.version} runs, and has reported`)
  await keeper.save()
}

async function reported({ core, capabilities }: ConfirmDeps): Promise<boolean> {
  const { clock, ending, upgrading, log } = core
  const deadlineMs = clock.now() + TRIAL_MS
  let fault = ''
  while (!ending.signal.aborted) {
    // The one that watches ends it at its time.
    if (clock.now() >= deadlineMs && upgrading?.isWatched() !== true) return false
    const why = await capabilities.report().then((isTaken) => (isTaken ? undefined : 'not taken'), reasonOf)
    if (why === undefined) return true
    if (why !== fault) log.line(`upgrade: the report of the new agent did not reach the server (${why}); tried again`)
    fault = why
    await clock.pause(AGAIN_MS, ending.signal)
  }
  return false
}

async function bringBack({ core, stop }: ConfirmDeps, running: string, failure: string): Promise<void> {
  const { member, upgrading, log, keeper } = core
  await upgrading?.file?.restore()
  if (member.upgrade !== undefined) member.upgrade = { ...member.upgrade, failure }
  log.line(`upgrade: undone, since ${failure}`)
  await keeper.save()
  if (running !== member.upgrade?.former_checksum) stop('restart')
}

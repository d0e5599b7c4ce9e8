import type { AgentDeps } from '../../../client/agent/agent-deps.ts'
import type { End } from '../../../client/agent/executions/execution.ts'
import { releaseChecksum, type ReleaseChecksum } from '../../../client/agent/releases/release-checksum.ts'
import type { PulledExecution } from '../../../client/agent/state/snapshot.ts'
import { isSemanticVersion } from '../../../shared/semantic-version.ts'
import type { AgentEnd } from '../agent-end.ts'
import type { AgentCore } from '../agent-core.ts'
import { machineArchitecture } from '../capabilities.ts'
import { explained } from '../errors.ts'
import { failed, succeeded } from '../executions/builtins.ts'
import type { TakenUpgrade } from '../state/agent-state.ts'
import type { ProgramFile } from './program-file.ts'
import { runUpgradeProgram, UPGRADE_FOLDER } from './upgrade-program.ts'

/** Upgrades of the agent that executions ask for. */
export interface Upgrades {
  /**
   * Lets the program of the administrator replace the agent's file, and ends the agent for a start of the new one. Resolves with
   * undefined then: the execution ends when the new one has reported, or the old one is back.
   */
  perform(execution: PulledExecution, signal: AbortSignal): Promise<End | undefined>
  /** Whether the execution is an upgrade that an earlier run of the agent has begun. */
  isBegun(executionId: string): boolean
  /** How it ended. Resolves with undefined where the agent ends first, or where the server has ended the execution. */
  outcome(): Promise<End | undefined>
}

/** What upgrades need. */
export interface UpgradeDeps {
  readonly core: Pick<AgentCore, 'member' | 'binary' | 'clock' | 'log' | 'keeper' | 'upgrading'>
  readonly agent: AgentDeps
  readonly stop: (how: AgentEnd) => void
}

const LOOK_EVERY_MS = 250
const ELSEWHERE =
  'this agent does not run from the one file of a release: install it with "ctl agent install", or upgrade it by hand'

/** Makes the upgrades of an agent. */
export function createUpgrades({ core, agent, stop }: UpgradeDeps): Upgrades {
  const { member, clock, log, keeper } = core
  let isBusy = false

  async function perform(execution: PulledExecution, signal: AbortSignal): Promise<End | undefined> {
    const file = core.upgrading?.file
    if (file === undefined) return failed(ELSEWHERE)
    const wanted = await wantedBy(agent, core, execution)
    if ('failure' in wanted) return failed(wanted.failure)
    const running = await core.binary()
    // The file is read again every hour: another program may have replaced it while the former version runs.
    const isRunning = running.checksum === wanted.checksum && running.version === wanted.version
    if (isRunning) return succeeded(`version ${wanted.version} runs already\n`)
    await file.keep()
    await note({ ...wanted, execution_id: execution.execution_id, former_checksum: running.checksum, output: '' })
    const installed = await tryToInstall({ file, execution, signal, ...wanted })
    if (!('failure' in installed)) return leave(installed.output)
    await file.restore()
    await note({ ...begun(), failure: installed.failure })
    return ended(installed)
  }

  /** A fault must not leave the new file in place, such as one that does not end when it is asked for its version. */
  async function tryToInstall(order: Order): Promise<Installed> {
    const installed = await install(order).catch((error: unknown): Failure => ({
      output: '',
      failure: explained(error),
    }))
    if ('failure' in installed || !order.signal.aborted) return installed
    return { ...installed, failure: 'the execution was given up', isGivenUp: true }
  }

  async function install(order: Order): Promise<Installed> {
    const { file, version, checksum, execution } = order
    const folder = core.upgrading?.folder ?? UPGRADE_FOLDER
    const { output, failure, isGivenUp } = await runUpgradeProgram({
      ...order,
      folder,
      path: file.path,
      nowMs: clock.now(),
    })
    if (failure !== undefined) return { output, failure, isGivenUp }
    const found = await file.checksum()
    if (found !== checksum)
      return { output, failure: `${file.path} is not release ${version} afterwards: its SHA-256 is ${found ?? 'none'}` }
    // It may have been withdrawn meanwhile.
    const judged = await wantedBy(agent, core, execution)
    const fault = 'failure' in judged ? judged.failure : await file.faultOf(version)
    return fault === undefined ? { output } : { output, failure: fault }
  }

  /** Ends the agent for a start of the new one. */
  async function leave(output: string): Promise<undefined> {
    await note({ ...begun(), output })
    log.line(`upgrade: ${begun().version} is installed; the agent is started again from it`)
    stop('upgrade')
  }

  async function note(upgrade: TakenUpgrade): Promise<void> {
    member.upgrade = upgrade
    await keeper.save()
  }

  function begun(): TakenUpgrade {
    if (member.upgrade === undefined) throw new Error('no upgrade has begun')
    return member.upgrade
  }

  return {
    async perform(execution, signal) {
      if (isBusy || isOpen(member.upgrade)) return failed('another upgrade is under way')
      isBusy = true
      try {
        return await perform(execution, signal)
      } finally {
        isBusy = false
      }
    },
    isBegun: (executionId) => member.upgrade?.execution_id === executionId,
    async outcome() {
      while (isOpen(member.upgrade) && !agent.until.aborted) await clock.pause(LOOK_EVERY_MS, agent.until)
      if (member.upgrade === undefined) return undefined
      const { failure, output } = member.upgrade
      if (failure !== undefined) return ended({ failure, output })
      return isOpen(member.upgrade) ? undefined : succeeded(output)
    },
  }
}

type Wanted = { readonly version: string; readonly checksum: string }

interface Order extends Wanted {
  readonly file: ProgramFile
  readonly execution: PulledExecution
  readonly signal: AbortSignal
}

interface Failure {
  readonly output: string
  readonly failure: string
  readonly isGivenUp?: boolean
}

type Installed = { readonly output: string } | Failure

/** Notes that an agent on trial ends on purpose: the one that watches it distinguishes it so from a file that is no agent. */
export function noteEnd(member: Pick<AgentCore['member'], 'upgrade'>): void {
  if (isOpen(member.upgrade)) member.upgrade = { ...member.upgrade, is_ended: true }
}

/** Whether an upgrade has neither been confirmed nor undone. */
export function isOpen(upgrade: TakenUpgrade | undefined): upgrade is TakenUpgrade {
  return upgrade !== undefined && !isOver(upgrade)
}

/** Whether an upgrade has been confirmed or undone. */
export function isOver({ is_confirmed: isConfirmed, failure }: TakenUpgrade): boolean {
  return isConfirmed === true || failure !== undefined
}

async function wantedBy(
  agent: AgentDeps,
  { member }: Pick<AgentCore, 'member'>,
  { parameters }: PulledExecution,
): Promise<Wanted | { readonly failure: string }> {
  const [version, asked] = [parameters?.['version'], parameters?.['checksum']]
  if (typeof version !== 'string' || !isSemanticVersion(version))
    return { failure: 'the parameter version is missing, or is no semantic version such as 1.5.0' }
  if (asked !== undefined && typeof asked !== 'string') return { failure: 'the parameter checksum is no text' }
  // A server may have been told of signers since the last upgrade.
  agent.notProvisioned.delete('release')
  const found: ReleaseChecksum = await releaseChecksum(agent, member, {
    version,
    architecture: machineArchitecture(),
    asked,
  })
  return 'failure' in found ? found : { version, checksum: found.checksum }
}

function ended({ failure, output, isGivenUp }: Failure): End {
  const { callback } = failed(failure)
  return { callback: { ...callback, status: isGivenUp === true ? 'cancelled' : 'failed', output } }
}

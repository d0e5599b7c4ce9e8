import type { MemberDeps } from '../../client/agent/agent-deps.ts'
import { handleDropped, handleEvent } from '../../client/agent/events/handle-event.ts'
import { holdStream } from '../../client/agent/events/event-stream-holder.ts'
import { followHints, sendHeartbeat, startHeartbeats } from '../../client/agent/heartbeat.ts'
import { resumeRotation } from '../../client/agent/keys/key-rotation.ts'
import { rotateSecretKey } from '../../client/agent/keys/secret-key-rotation.ts'
import { pullSoon } from '../../client/agent/state/state-pull.ts'
import type { AgentCore } from './agent-core.ts'
import { endpointWork } from './endpoints/endpoint-work.ts'
import type { Machine } from './machine.ts'
import type { RealMember } from './real-member.ts'
import { startPeriodicWork, type PeriodicWork } from './process/periodic-work.ts'
import { capabilitiesWork, type Capabilities } from './capabilities.ts'
import { isSecretKeyDue, SECRET_KEY_LOOK_MS } from './secret-key-age.ts'

/** What the routines of an agent need. */
export interface Routines {
  readonly core: AgentCore
  readonly machine: Machine
  readonly deps: MemberDeps<RealMember>
  readonly capabilities: Capabilities
}

/** How long the first pull waits for stream and endpoint. */
const FIRST_PULL_MS_MAX = 1_000
/** Pause before a stream is opened again after an answer that is not the server's. */
const STREAM_AGAIN_MS = 30_000
/** The rules in the kernel are looked at so often: other programs may remove them, as `nft flush ruleset` does. */
const POLICIES_EVERY_MS = 10_000
/** So often the names are given to this machine again. */
const NAMES_EVERY_MS = 30_000

/** Starts everything that an agent does by itself, until it ends. */
export async function startRoutines(routines: Routines): Promise<void> {
  const { core, machine, deps } = routines
  core.tasks.track(core.wheel.run(core.ending.signal))
  keepHeartbeats(routines)
  openStream(routines)
  const begin = (work: PeriodicWork): Promise<void> => startPeriodicWork({ ...core, until: core.ending.signal }, work)
  const { own, ofPeers } = endpointWork({ core, machine, agent: deps })
  const reported = begin(own)
  for (const work of [...periodicWork(routines), ofPeers]) void begin(work)
  // No change falls between stream and pull; and peers know where to send once this node knows them.
  const first = Promise.all([core.member.stream?.firstTry, reported])
  await Promise.race([first, core.clock.pause(FIRST_PULL_MS_MAX, core.ending.signal)])
  pullSoon(deps, core.member, 0)
  resumeRotation(deps, core.member)
}

function periodicWork({ core, machine, deps, capabilities }: Routines): readonly PeriodicWork[] {
  return [
    capabilitiesWork(capabilities),
    { name: 'node secret key', everyMs: () => SECRET_KEY_LOOK_MS, work: () => replaceOldSecretKey(core, deps) },
    {
      name: 'policies',
      everyMs: () => POLICIES_EVERY_MS,
      async work() {
        if (await machine.applier.enforce()) machine.work.request()
      },
    },
    { name: 'names', everyMs: () => NAMES_EVERY_MS, work: () => machine.applier.republish() },
  ]
}

async function replaceOldSecretKey(
  { clock, member, secretKeySince }: AgentCore,
  deps: Routines['deps'],
): Promise<void> {
  if (isSecretKeyDue(secretKeySince(), clock.now())) await rotateSecretKey(deps, member)
}

function keepHeartbeats({ core, deps }: Routines): void {
  const { clock, member, state, ending } = core
  startHeartbeats(deps, {
    intervalMs: state.enrolment.heartbeat_interval_seconds * 1000,
    isFirstAtOnce: true,
    until: ending.signal,
    async send() {
      const answer = await sendHeartbeat(deps, member, { clientNowMs: clock.now(), binary: await core.binary() })
      if (answer !== undefined) followHints(deps, member, answer)
    },
  })
}

function openStream({ core, deps }: Routines): void {
  const { member, connection, keeper, ending } = core
  member.stream = holdStream(
    {
      ...deps,
      streams: connection.streams,
      reopensAfterMs: STREAM_AGAIN_MS,
      onDropped: (node) => handleDropped(deps, node),
      onRefused: (node, code) => deps.actions.refused(node, code),
      onEvent(node, received) {
        if (ending.signal.aborted) return
        handleEvent(deps, node, received)
        keeper.saveSoon()
      },
    },
    member,
  )
}

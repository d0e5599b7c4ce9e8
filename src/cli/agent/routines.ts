import type { MemberDeps } from '../../client/agent/agent-deps.ts'
import { handleEvent } from '../../client/agent/events/handle-event.ts'
import { holdStream } from '../../client/agent/events/event-stream-holder.ts'
import { followHints, sendHeartbeat, startHeartbeats } from '../../client/agent/heartbeat.ts'
import { resumeRotation } from '../../client/agent/keys/key-rotation.ts'
import { pullSoon } from '../../client/agent/state/state-pull.ts'
import type { AgentCore } from './agent-core.ts'
import type { Machine } from './machine.ts'
import type { RealMember } from './real-member.ts'
import { createObservedReporter } from './observed-endpoints.ts'
import { startPeriodicWork, type PeriodicWork } from './process/periodic-work.ts'
import { reportEndpoint } from './reports.ts'
import type { Capabilities } from './capabilities.ts'
import { endpointOf, localAddressTowards } from './system/local-address.ts'

/** What the routines of an agent need. */
export interface Routines {
  readonly core: AgentCore
  readonly machine: Machine
  readonly deps: MemberDeps<RealMember>
  readonly capabilities: Capabilities
}

/** How long the first pull waits for the stream, so that no change falls between the two. */
const STREAM_MS_MAX = 1_000
/** Pause before a stream is opened again after an answer that is not the server's. */
const STREAM_AGAIN_MS = 30_000
/** The binary and the hooks are looked at so often. */
const CAPABILITIES_EVERY_MS = 3_600_000
const OBSERVED_EVERY_MS = 5_000
const LOCAL_ADDRESS_EVERY_MS = 15_000
/** A clock of the server that is off must not keep the endpoint from being reported. */
const ENDPOINT_MS_MAX = 3_600_000

/** Starts everything that an agent does by itself, until it ends. */
export async function startRoutines(routines: Routines): Promise<void> {
  const { core, deps } = routines
  core.tasks.track(core.wheel.run(core.ending.signal))
  keepHeartbeats(routines)
  openStream(routines)
  for (const one of periodicWork(routines)) startPeriodicWork({ ...core, until: core.ending.signal }, one)
  await Promise.race([core.member.stream?.opened, core.clock.pause(STREAM_MS_MAX, core.ending.signal)])
  pullSoon(deps, core.member, 0)
  resumeRotation(deps, core.member)
}

function periodicWork(routines: Routines): readonly PeriodicWork[] {
  const { capabilities } = routines
  return [
    { name: 'endpoint', everyMs: LOCAL_ADDRESS_EVERY_MS, work: createEndpointReporter(routines) },
    { name: 'capabilities', everyMs: CAPABILITIES_EVERY_MS, work: () => capabilities.report() },
    { name: 'observed endpoints', everyMs: OBSERVED_EVERY_MS, work: createObservedReporter(routines) },
  ]
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

/** Reports the endpoint when the local address changes, and when half of its time is over. */
function createEndpointReporter({ core, deps, machine }: Routines): () => Promise<void> {
  const { clock, member, state, ending, log } = core
  let reported: string | undefined
  let untilMs = 0
  return async () => {
    const local = await localAddressTowards(state.server.url)
    const { listenPort } = await machine.device.status()
    const endpoint = local && endpointOf(local, listenPort)
    const isDue = endpoint !== reported || clock.now() >= untilMs
    if (endpoint === undefined || !isDue || ending.signal.aborted) return
    if (endpoint !== reported) log.line(`endpoint: ${endpoint}`)
    reported = endpoint
    const lifetimeMs = await reportEndpoint(deps, member, endpoint)
    untilMs = clock.now() + (lifetimeMs === undefined ? 0 : Math.min(lifetimeMs, ENDPOINT_MS_MAX) / 2)
  }
}

import type { MemberDeps } from '../../client/agent/agent-deps.ts'
import { handleEvent } from '../../client/agent/events/handle-event.ts'
import { holdStream } from '../../client/agent/events/event-stream-holder.ts'
import { followHints, sendHeartbeat, startHeartbeats } from '../../client/agent/heartbeat.ts'
import { resumeRotation } from '../../client/agent/keys/key-rotation.ts'
import { pullSoon } from '../../client/agent/state/state-pull.ts'
import type { AgentCore } from './agent-core.ts'
import type { Machine } from './machine.ts'
import type { RealMember } from './real-member.ts'
import { reportCapabilities, reportEndpoint } from './reports.ts'
import { endpointOf, localAddressTowards } from './system/local-address.ts'

/** What the routines of an agent need. */
export interface Routines {
  readonly core: AgentCore
  readonly machine: Machine
  readonly deps: MemberDeps<RealMember>
}

/** How long the first pull waits for the stream, so that no change falls between the two. */
const STREAM_MS_MAX = 1_000
/** Pause before a stream is opened again after an answer that is not the server's. */
const STREAM_AGAIN_MS = 30_000
const BINARY_EVERY_MS = 3_600_000
const LOCAL_ADDRESS_EVERY_MS = 15_000
/** Lifetime of a report of the endpoint that the server did not answer (S0 Limits: endpoint TTL). */
const ENDPOINT_MS = 300_000

/** Starts everything that an agent does by itself, until it ends. */
export async function startRoutines(routines: Routines): Promise<void> {
  const { core, deps } = routines
  core.tasks.track(core.wheel.run(core.ending.signal))
  keepHeartbeats(routines)
  openStream(routines)
  core.tasks.track(keepEndpoint(routines, { reported: undefined, untilMs: 0 }))
  core.tasks.track(keepCapabilities(routines, undefined))
  await Promise.race([core.member.stream?.opened, core.clock.pause(STREAM_MS_MAX, core.ending.signal)])
  pullSoon(deps, core.member, 0)
  resumeRotation(deps, core.member)
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

interface ReportedEndpoint {
  readonly reported: string | undefined
  /** Half of the lifetime of the last report. */
  readonly untilMs: number
}

/** Reports the endpoint when the local address changes, and when half of its time is over. */
async function keepEndpoint(routines: Routines, last: ReportedEndpoint): Promise<void> {
  const { core, deps, machine } = routines
  const { clock, member, state, ending, tasks } = core
  const local = await localAddressTowards(state.server.url)
  const { listenPort } = await machine.device.status()
  const endpoint = local && endpointOf(local, listenPort)
  let next = last
  if (endpoint !== undefined && !ending.signal.aborted && (endpoint !== last.reported || clock.now() >= last.untilMs)) {
    if (endpoint !== last.reported) core.log.line(`endpoint: ${endpoint}`)
    const lifetimeMs = await reportEndpoint(deps, member, endpoint)
    next = {
      reported: endpoint,
      untilMs:
        clock.now() + (lifetimeMs === undefined ? LOCAL_ADDRESS_EVERY_MS : Math.min(lifetimeMs, ENDPOINT_MS) / 2),
    }
  }
  if (!ending.signal.aborted) tasks.schedule(LOCAL_ADDRESS_EVERY_MS, () => keepEndpoint(routines, next))
}

/** Reports the capabilities at the start, and when the hourly look finds another binary. */
async function keepCapabilities(routines: Routines, reported: string | undefined): Promise<void> {
  const { core, deps } = routines
  const binary = await core.binary()
  if (binary.checksum !== reported) await reportCapabilities(deps, core.member, binary)
  if (!core.ending.signal.aborted)
    core.tasks.schedule(BINARY_EVERY_MS, () => keepCapabilities(routines, binary.checksum))
}

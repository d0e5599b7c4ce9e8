import type { AgentDeps } from '../../../client/agent/agent-deps.ts'
import type { Member } from '../../../client/agent/member.ts'
import {
  sendObservedEndpoints,
  type SeenPeer,
  type SentPeer,
} from '../../../client/agent/reports/observed-endpoints.ts'

/** What the reports need. */
export interface ObservedReportsDeps {
  readonly agent: AgentDeps
  readonly member: Member
  /** How long the server keeps them. */
  readonly lifetimeMs: () => number
}

/** The reports of where this node sees its peers. */
export interface ObservedReports {
  /** Takes what is seen now, and reports what is due. Returns whether a change waits for others to join it. */
  take(seen: readonly SeenPeer[]): boolean
}

/** Changes within this time are reported together. */
const SETTLED_MS = 1_000
/** Pause after a report that was not taken. */
const RETRY_MS = 15_000
/** The server takes one change of a peer within ten seconds, and those of 64 peers (agent protocol: Observed endpoints). */
const IGNORED_AGAIN_MS = 12_000

interface Reported {
  readonly endpoint: string
  readonly atMs: number
}

/** Makes the reports. A peer is reported when it is seen first or elsewhere, and again at half of the lifetime. */
export function createObservedReports({ agent, member, lifetimeMs }: ObservedReportsDeps): ObservedReports {
  const { clock, tasks } = agent
  let reported: ReadonlyMap<string, Reported> = new Map()
  /** Since when a change waits. */
  let waitingMs: number | undefined
  let retryMs = 0
  let isSending = false

  const isChanged = ({ peerId, endpoint }: SeenPeer) => reported.get(peerId)?.endpoint !== endpoint
  const isOld = ({ peerId }: SeenPeer) => clock.now() - (reported.get(peerId)?.atMs ?? 0) >= lifetimeMs() / 2

  async function send(seen: readonly SeenPeer[]): Promise<void> {
    isSending = true
    const atMs = clock.now()
    const answered = await sendObservedEndpoints(agent, member, { seen, observedMs: atMs })
    const later = answered.map((peer) => [peer.peerId, reportedOf(peer, atMs)] as const)
    reported = new Map([...reported, ...later])
    if (answered.length < seen.length) retryMs = clock.now() + RETRY_MS
    isSending = false
  }

  /** A change that the server may have ignored is reported once more before long, as if it were old by then. */
  function reportedOf({ peerId, endpoint, isTaken }: SentPeer, atMs: number): Reported {
    const isOnceMore = !isTaken && reported.get(peerId)?.endpoint !== endpoint
    return { endpoint, atMs: isOnceMore ? atMs - lifetimeMs() / 2 + IGNORED_AGAIN_MS : atMs }
  }

  return {
    take(seen) {
      const isSeen = new Set(seen.map(({ peerId }) => peerId))
      reported = new Map([...reported].filter(([peerId]) => isSeen.has(peerId)))
      const hasChange = seen.some(isChanged)
      waitingMs = hasChange ? (waitingMs ?? clock.now()) : undefined
      if (isSending || clock.now() < retryMs) return false
      if (waitingMs !== undefined && clock.now() - waitingMs < SETTLED_MS) return true
      const due = seen.filter((peer) => isChanged(peer) || isOld(peer))
      if (due.length > 0) tasks.track(send(due))
      waitingMs = undefined
      return false
    },
  }
}

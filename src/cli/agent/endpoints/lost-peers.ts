import { hasSession } from '../device/session-age.ts'
import { isSameEndpoint } from './endpoint-address.ts'
import type { PathClock } from './path-clock.ts'
import type { PresentPeer } from './seen-endpoints.ts'

/** A peer with a session sends at least each keepalive interval of 25 s. */
const SILENT_MS = 40_000
/** Time that handshakes at the present endpoint get: they are repeated for 10 s after a change of keys. */
const WITHOUT_SESSION_MS = 15_000

/** A peer, and the endpoint that the server gives. */
export interface ReachablePeer extends PresentPeer {
  /** Empty where it gives none. */
  readonly given: string
  /** Further addresses that the server gives. */
  readonly candidates: readonly string[]
}

/** Follows from which peers nothing comes any more. */
export interface LostPeers {
  /**
   * Ids of the peers from which nothing comes and for which the server has another endpoint than the device. Without a session, a
   * peer with candidates is sought instead.
   */
  look(peers: readonly ReachablePeer[]): readonly string[]
}

interface Heard {
  readonly receivedBytes: number
  readonly atMs: number
}

/** Makes it. Each peer counts as heard at the first look. */
export function createLostPeers({ now, steady }: PathClock): LostPeers {
  let heard: ReadonlyMap<string, Heard> = new Map()

  function heardOf({ nodeId, status: { receivedBytes } }: ReachablePeer): Heard {
    const before = heard.get(nodeId)
    return before?.receivedBytes === receivedBytes ? before : { receivedBytes, atMs: steady() }
  }

  return {
    look(peers) {
      const next = new Map(peers.map((peer) => [peer.nodeId, heardOf(peer)]))
      const atMs = steady()
      const lost = peers.filter((peer) => isLost(peer, atMs - (next.get(peer.nodeId)?.atMs ?? atMs), now()))
      for (const { nodeId, status } of lost) next.set(nodeId, { receivedBytes: status.receivedBytes, atMs })
      heard = next
      return lost.map(({ nodeId }) => nodeId)
    },
  }
}

function isLost({ status, given, candidates }: ReachablePeer, silentMs: number, nowMs: number): boolean {
  if (given === '' || status.endpoint === undefined || isSameEndpoint(given, status.endpoint)) return false
  if (!hasSession(status, nowMs)) return candidates.length === 0 && silentMs >= WITHOUT_SESSION_MS
  // Without keepalives a quiet session is no sign.
  return status.keepaliveSeconds > 0 && silentMs >= SILENT_MS
}

import type { PeerStatus } from '../device/device.ts'

/** What came from a peer, and since when an answer of it is due. */
export interface Hearing {
  /** Counters of the device when something came last. */
  readonly receivedBytes: number
  readonly sentBytes: number
  readonly heardMs: number
  /** When it was seen first that something was sent that is to be answered; undefined: nothing was since something came. */
  readonly askedMs: number | undefined
  /** Empty packets that were sent to the peer on purpose since something came. */
  readonly wakes: number
}

/** Packets without content, which nothing answers. One is sent with each wake and each keepalive interval. */
const KEEPALIVE_BYTES = 32
/** Those that the agent sends otherwise, as when the own address changes. */
const UNANSWERED_BYTES = 64
const KEEPALIVE_MS = 20_000

/**
 * Follows the counters of a peer. What is sent in a session is answered within 10 s, by an empty packet at least (WireGuard white
 * paper, section 6.5), and the first message of a handshake at once.
 */
export function hear(before: Hearing | undefined, status: PeerStatus, nowMs: number): Hearing {
  const { receivedBytes, sentBytes } = status
  if (before === undefined || receivedBytes > before.receivedBytes) {
    const isNew = before === undefined && receivedBytes === 0
    const first = { receivedBytes, sentBytes: isNew ? 0 : sentBytes, heardMs: nowMs, askedMs: undefined, wakes: 0 }
    return isNew ? withQuestion(first, status, nowMs) : first
  }
  // The counters begin again with a peer that was removed and added.
  const isReset = receivedBytes < before.receivedBytes || sentBytes < before.sentBytes
  return withQuestion(isReset ? { ...before, receivedBytes, sentBytes: 0 } : before, status, nowMs)
}

function withQuestion(hearing: Hearing, { sentBytes }: PeerStatus, nowMs: number): Hearing {
  if (hearing.askedMs !== undefined) return hearing
  const keepalives = Math.floor((nowMs - hearing.heardMs) / KEEPALIVE_MS)
  const isAsked = sentBytes - hearing.sentBytes > UNANSWERED_BYTES + (keepalives + hearing.wakes) * KEEPALIVE_BYTES
  return isAsked ? { ...hearing, askedMs: nowMs } : hearing
}

/** How long an answer is due; 0: none is. */
export function dueForMs({ askedMs }: Hearing, nowMs: number): number {
  return askedMs === undefined ? 0 : nowMs - askedMs
}

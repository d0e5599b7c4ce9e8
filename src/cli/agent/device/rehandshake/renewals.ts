import type { RehandshakeClock } from './rehandshake-clock.ts'
import type { DevicePeer } from '../device.ts'
import type { DeviceRecord, PeerEdit, PeerRecord } from '../driver.ts'
import { KEEPALIVE_SECONDS, renewal } from '../peer-edits.ts'

/** How long a peer is removed and added again after a change of keys. */
const LIMIT_MS = 10_000
/**
 * Time that each handshake is given. A path whose round trip takes longer than 300 ms would never complete one if every try
 * were ended after 300 ms.
 */
const TRY_MS = [300, 300, 300, 600, 600, 1_200, 2_400, 4_800] as const

interface Renewal {
  /** What the peer shall have once its handshake is completed. */
  keepaliveSeconds: number
  readonly sinceMs: number
  readonly tries: number
  readonly dueMs: number
}

/** Peers whose handshakes are repeated until one is completed. */
export interface Renewals {
  readonly size: number
  /** Begins with peers that have no session. The edits remove and add them. */
  begin(peers: readonly DevicePeer[]): readonly PeerEdit[]
  /** What is due: peers that are still without a handshake are removed and added, the others get their own interval back. */
  due(record: DeviceRecord): readonly PeerEdit[]
  /** The interval that the peer shall have; undefined: its handshake is not repeated. */
  keepaliveOf(publicKey: string): number | undefined
  setKeepalive(publicKey: string, seconds: number): void
  delete(publicKey: string): void
  clear(): void
}

/** Keeps in memory which handshakes are repeated. */
export function createRenewals(clock: RehandshakeClock): Renewals {
  const renewals = new Map<string, Renewal>()

  const next = (peer: DevicePeer, last: Renewal): PeerEdit => {
    // Without the random part both ends could remove each other at the same moments.
    const dueMs = clock.steady() + (TRY_MS[last.tries] ?? LIMIT_MS) * (1 + clock.random() * 0.3)
    renewals.set(peer.publicKey, { ...last, tries: last.tries + 1, dueMs })
    // A peer that is added with an interval gets a packet at once, and with it a handshake.
    return renewal(peer, KEEPALIVE_SECONDS)
  }
  const finish = (peer: PeerRecord, { keepaliveSeconds }: Renewal): readonly PeerEdit[] => {
    renewals.delete(peer.publicKey)
    return peer.keepaliveSeconds === keepaliveSeconds ? [] : [{ publicKey: peer.publicKey, keepaliveSeconds }]
  }
  const dueOf = (peer: PeerRecord): readonly PeerEdit[] => {
    const pending = renewals.get(peer.publicKey)
    if (pending === undefined) return []
    if (peer.latestHandshakeMs !== undefined || clock.steady() - pending.sinceMs > LIMIT_MS)
      return finish(peer, pending)
    return clock.steady() < pending.dueMs ? [] : [next(peer, pending)]
  }

  return {
    get size() {
      return renewals.size
    },
    begin: (peers) =>
      peers.map((peer) => {
        const keepaliveSeconds = renewals.get(peer.publicKey)?.keepaliveSeconds ?? peer.keepaliveSeconds
        return next(peer, { keepaliveSeconds, sinceMs: clock.steady(), tries: 0, dueMs: 0 })
      }),
    due(record) {
      const known = new Set(record.peers.map((peer) => peer.publicKey))
      for (const key of renewals.keys()) if (!known.has(key)) renewals.delete(key)
      return record.peers.flatMap(dueOf)
    },
    keepaliveOf: (publicKey) => renewals.get(publicKey)?.keepaliveSeconds,
    setKeepalive(publicKey, seconds) {
      const pending = renewals.get(publicKey)
      if (pending !== undefined) pending.keepaliveSeconds = seconds
    },
    delete: (publicKey) => void renewals.delete(publicKey),
    clear: () => renewals.clear(),
  }
}

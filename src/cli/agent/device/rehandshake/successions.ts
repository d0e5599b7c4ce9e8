import { hasSession } from '../session-age.ts'
import type { DeviceChange, DevicePeer } from '../device.ts'
import type { DeviceRecord, PeerEdit, PeerRecord } from '../driver.ts'
import { sameCidrs } from '../peer-edits.ts'
import { newKeysOf } from './new-keys.ts'
import type { RehandshakeClock } from './rehandshake-clock.ts'

/** How long the old key of a peer is kept: the peer changes its own key 1 s after the server knows of the new one. */
const OVERLAP_MS = 3_000

interface Succession {
  readonly oldKey: string
  readonly peer: DevicePeer
  readonly sinceMs: number
  /** This node has changed its own key since. */
  readonly isOwnKeyNew: boolean
}

/**
 * Peers with a new key that have not used it. Such a peer is on the device twice: the old key has the allowed IPs and the
 * session, the new one has none of them and answers handshakes. Packets flow on until the peer changes its own key.
 */
export interface Successions {
  readonly size: number
  /**
   * Takes the successions out of a change; the rest is what the device is to be given. A preshared key that changes once more,
   * because this node rotates too, waits until the peer has used its new key, or this node does: before, the peer has the former.
   */
  begin(record: DeviceRecord, change: DeviceChange): DeviceChange
  /** This node changes its own key now. Returns the peers with preshared key and interval as they are to be with it. */
  ownKeyChanges(peers: readonly PeerRecord[]): readonly PeerRecord[]
  /** Ends those which a change affects in another way. */
  conflicting(change: DeviceChange): Settlement
  /** What is due: a new key with a handshake takes over. `late` lists new keys that take over without one. */
  due(record: DeviceRecord): Settlement & { readonly late: readonly string[] }
  /** Forgets those that the device has ended. Before, a failed edit is made again. */
  end(newKeys: readonly string[]): void
  /** The peers as the owner of the device is to see them: each once, by its new key. */
  merged(peers: readonly PeerRecord[]): readonly PeerRecord[]
  hasKey(publicKey: string): boolean
  clear(): void
}

/** What the device is to do, and the new keys of the successions that end with it. */
export interface Settlement {
  readonly edits: readonly PeerEdit[]
  readonly newKeys: readonly string[]
}

/** Keeps in memory which peers have a new key. */
export function createSuccessions(clock: RehandshakeClock): Successions {
  const byNewKey = new Map<string, Succession>()

  const settled = (ended: readonly Succession[]): Settlement => ({
    edits: ended.flatMap(lastEdits),
    newKeys: ended.map(({ peer }) => peer.publicKey),
  })
  const isAffected = ({ oldKey, peer }: Succession, { put, remove }: DeviceChange) =>
    remove.includes(peer.publicKey) ||
    put.some((other) =>
      other.publicKey === peer.publicKey
        ? !sameCidrs(other.allowedIps, peer.allowedIps)
        : other.publicKey === oldKey || other.allowedIps.some((cidr) => peer.allowedIps.includes(cidr)),
    )

  return {
    get size() {
      return byNewKey.size
    },
    begin(record, change) {
      const nowMs = clock.now()
      for (const { old, peer } of newKeysOf(record, change, (former) => hasSession(former, nowMs))) {
        byNewKey.set(peer.publicKey, { oldKey: old.publicKey, peer, sinceMs: clock.steady(), isOwnKeyNew: false })
      }
      if (byNewKey.size === 0) return change
      const oldKeys = new Set([...byNewKey.values()].map(({ oldKey }) => oldKey))
      return {
        remove: change.remove.filter((key) => !oldKeys.has(key)),
        put: change.put.map((peer) => {
          const succession = byNewKey.get(peer.publicKey)
          if (succession === undefined) return peer
          byNewKey.set(peer.publicKey, { ...succession, peer })
          const endpoint = peer.endpoint ?? endpointOf(record, succession)
          const present = record.peers.find(isKey(peer.publicKey))?.presharedKey
          const presharedKey = succession.isOwnKeyNew ? peer.presharedKey : (present ?? peer.presharedKey)
          return { ...peer, presharedKey, endpoint, allowedIps: [], keepaliveSeconds: 0 }
        }),
      }
    },
    ownKeyChanges(peers) {
      for (const [key, succession] of byNewKey) byNewKey.set(key, { ...succession, isOwnKeyNew: true })
      return peers.map((peer) => {
        const { presharedKey, keepaliveSeconds } = byNewKey.get(peer.publicKey)?.peer ?? peer
        return { ...peer, presharedKey: presharedKey ?? peer.presharedKey, keepaliveSeconds }
      })
    },
    conflicting: (change) => settled([...byNewKey.values()].filter((succession) => isAffected(succession, change))),
    due(record) {
      const hasHandshake = new Set(
        record.peers.filter((peer) => peer.latestHandshakeMs !== undefined).map((peer) => peer.publicKey),
      )
      const isLate = ({ peer, sinceMs }: Succession) =>
        !hasHandshake.has(peer.publicKey) && clock.steady() - sinceMs > OVERLAP_MS
      const late = [...byNewKey.values()].filter(isLate)
      const ready = [...byNewKey.values()].filter(({ peer }) => hasHandshake.has(peer.publicKey))
      return { ...settled([...ready, ...late]), late: late.map(({ peer }) => peer.publicKey) }
    },
    end(newKeys) {
      for (const key of newKeys) byNewKey.delete(key)
    },
    merged(peers) {
      if (byNewKey.size === 0) return peers
      const old = new Map([...byNewKey.values()].map(({ oldKey }) => [oldKey, peers.find(isKey(oldKey))]))
      return peers
        .filter(({ publicKey }) => !old.has(publicKey))
        .map((peer) => {
          const succession = byNewKey.get(peer.publicKey)
          return succession === undefined ? peer : asOne(peer, old.get(succession.oldKey), succession.peer)
        })
    },
    hasKey: (publicKey) => byNewKey.has(publicKey) || [...byNewKey.values()].some(({ oldKey }) => oldKey === publicKey),
    clear: () => byNewKey.clear(),
  }
}

function lastEdits({ oldKey, peer }: Succession): readonly PeerEdit[] {
  return [
    { publicKey: oldKey, isRemoved: true },
    {
      publicKey: peer.publicKey,
      ...(peer.presharedKey !== undefined && { presharedKey: peer.presharedKey }),
      allowedIps: { wanted: peer.allowedIps },
      keepaliveSeconds: peer.keepaliveSeconds,
    },
  ]
}

function endpointOf({ peers }: DeviceRecord, { oldKey, peer }: Succession): string | undefined {
  return peers.find(isKey(peer.publicKey))?.endpoint ?? peers.find(isKey(oldKey))?.endpoint
}

function isKey(publicKey: string) {
  return (peer: PeerRecord) => peer.publicKey === publicKey
}

function asOne(peer: PeerRecord, old: PeerRecord | undefined, wanted: DevicePeer): PeerRecord {
  return {
    ...peer,
    latestHandshakeMs: peer.latestHandshakeMs ?? old?.latestHandshakeMs,
    receivedBytes: peer.receivedBytes + (old?.receivedBytes ?? 0),
    sentBytes: peer.sentBytes + (old?.sentBytes ?? 0),
    allowedIps: wanted.allowedIps,
    keepaliveSeconds: wanted.keepaliveSeconds,
  }
}

import type { DeviceChange, DevicePeer } from '../device.ts'
import type { DeviceRecord, PeerRecord } from '../driver.ts'
import { sameCidrs } from '../peer-edits.ts'

/** One peer, as the device has it by its former key, and as it is put by its new one. */
export interface NewKey {
  readonly old: PeerRecord
  readonly peer: DevicePeer
}

/** A removed peer of which `isWanted` holds, and an added one with the same allowed IPs, are one peer with a new key. */
export function newKeysOf(
  { peers }: DeviceRecord,
  { put, remove }: DeviceChange,
  isWanted: (old: PeerRecord) => boolean,
): readonly NewKey[] {
  const isRemoved = new Set(remove)
  const known = new Set(peers.map((peer) => peer.publicKey))
  const wanted = peers.filter((peer) => isRemoved.has(peer.publicKey) && isWanted(peer))
  return put.flatMap((peer) => {
    if (known.has(peer.publicKey) || peer.allowedIps.length === 0) return []
    const old = wanted.find((other) => sameCidrs(other.allowedIps, peer.allowedIps))
    return old === undefined ? [] : [{ old, peer }]
  })
}

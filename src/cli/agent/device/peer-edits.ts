import { parseCidr } from '../../../shared/networks/cidr.ts'
import type { DeviceChange, DevicePeer } from './device.ts'
import type { DeviceRecord, PeerEdit, PeerRecord } from './driver.ts'
import { sameKey } from './keys.ts'

/** What WireGuard takes for "no preshared key". */
const NO_KEY = new Uint8Array(32)

/** An interval for peers that have none of their own. */
export const KEEPALIVE_SECONDS = 25

/** The differences between what the device has and the wanted change. Peers that are as they shall be have none. */
export function peerEdits(record: DeviceRecord, change: DeviceChange): readonly PeerEdit[] {
  const had = new Map(record.peers.map((peer) => [peer.publicKey, peer]))
  const isRemoved = new Set(change.remove)
  const isPut = new Set(change.put.map((peer) => peer.publicKey))
  const removals = change.remove.filter((key) => had.has(key) && !isPut.has(key))
  return [
    ...removals.map((publicKey) => ({ publicKey, isRemoved: true })),
    ...change.put.flatMap((peer) => editsOf(peer, had.get(peer.publicKey), isRemoved.has(peer.publicKey))),
  ]
}

/** Removes the peer, where the device has it, and adds it: its sessions and its timers begin again. */
export function renewal(peer: DevicePeer, keepaliveSeconds: number): PeerEdit {
  return addition({ ...peer, keepaliveSeconds }, peer)
}

/**
 * Sends a packet in the session: an interval that begins does. The peer keeps its own. The endpoint is set again, because
 * wireguard-go sends from the address at which it has received the last packet, also after the machine has lost that address.
 */
export function nudge({ publicKey, endpoint, keepaliveSeconds }: PeerRecord): readonly PeerEdit[] {
  const seconds = keepaliveSeconds === 0 ? [KEEPALIVE_SECONDS, 0] : [keepaliveSeconds]
  const first = { publicKey, ...(endpoint !== undefined && { endpoint }), keepaliveSeconds: 0 }
  return [first, ...seconds.map((one) => ({ publicKey, keepaliveSeconds: one }))]
}

/** Whether two lists have the same CIDRs in any order. */
export function sameCidrs(one: readonly string[], other: readonly string[]): boolean {
  const known = new Set(canonical(one))
  return known.size === new Set(canonical(other)).size && canonical(other).every((cidr) => known.has(cidr))
}

function editsOf(peer: DevicePeer, had: PeerRecord | undefined, isRemovedFirst: boolean): readonly PeerEdit[] {
  if (had === undefined || isRemovedFirst) return [addition(peer, had)]
  const edit = {
    ...(sameKey(peer.presharedKey, had.presharedKey) ? {} : { presharedKey: peer.presharedKey ?? NO_KEY }),
    ...(peer.endpoint === undefined || peer.endpoint === had.endpoint ? {} : { endpoint: peer.endpoint }),
    ...(peer.keepaliveSeconds === had.keepaliveSeconds ? {} : { keepaliveSeconds: peer.keepaliveSeconds }),
    ...allowedIpsEdit(peer.allowedIps, had.allowedIps),
  }
  return Object.keys(edit).length === 0 ? [] : [{ publicKey: peer.publicKey, ...edit }]
}

function addition(peer: DevicePeer, had: Pick<PeerRecord, 'endpoint'> | undefined): PeerEdit {
  const endpoint = peer.endpoint ?? had?.endpoint
  return {
    publicKey: peer.publicKey,
    isAdded: true,
    ...(had === undefined ? {} : { isRemoved: true }),
    ...(peer.presharedKey === undefined ? {} : { presharedKey: peer.presharedKey }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(peer.keepaliveSeconds === 0 ? {} : { keepaliveSeconds: peer.keepaliveSeconds }),
    allowedIps: { wanted: canonical(peer.allowedIps) },
  }
}

/** Replacing leaves the peer without any for a moment, and packets of that moment are lost. New ones are added without it. */
function allowedIpsEdit(wanted: readonly string[], had: readonly string[]): Pick<PeerEdit, 'allowedIps'> {
  if (sameCidrs(wanted, had)) return {}
  const cidrs = canonical(wanted)
  const known = new Set(canonical(had))
  const isKept = canonical(had).every((cidr) => cidrs.includes(cidr))
  return {
    allowedIps: { wanted: cidrs, ...(isKept ? { added: cidrs.filter((cidr) => !known.has(cidr)) } : {}) },
  }
}

function canonical(cidrs: readonly string[]): readonly string[] {
  return cidrs.map((text) => {
    const read = parseCidr(text)
    return read.ok ? read.cidr.text : text
  })
}

import type { PeerFacts } from '../../../client/agent/peers/peer-book.ts'
import type { EdgeEpoch } from '../../../shared/mesh/edge-epoch.ts'
import type { DevicePeer, PeerStatus } from '../device/device.ts'

/** An edge key that the agent holds. */
export interface HeldKey {
  readonly epoch: EdgeEpoch
  /** 32 bytes. */
  readonly key: Uint8Array
}

/** What this process has put into the device for a peer. */
export interface PutPeer {
  readonly publicKey: string
  readonly presharedKey: Uint8Array
  /** As the server gave it; empty where it gave none. */
  readonly endpoint: string
  readonly address: string
  readonly keepaliveSeconds: number
}

/** What the tunnel is to carry, and what is known of the device. */
export interface TunnelFacts {
  /** Accepted peers. */
  readonly peers: readonly PeerFacts[]
  /** By node id. */
  readonly keys: ReadonlyMap<string, HeldKey>
  /** What was put, by node id; empty after a start. */
  readonly puts: ReadonlyMap<string, PutPeer>
  /** The peers of the device. */
  readonly device: readonly PeerStatus[]
  readonly keepaliveSeconds: number
  readonly nowMs: number
}

/** One change of the device, and what holds after it. */
export interface TunnelPlan {
  readonly put: readonly DevicePeer[]
  /** Public keys. */
  readonly remove: readonly string[]
  /** What is put afterwards, by node id. */
  readonly puts: ReadonlyMap<string, PutPeer>
  /** One network per peer in the device, never the whole mesh. */
  readonly routes: readonly string[]
}

/** A session of WireGuard ends at this age of its handshake. */
export const SESSION_MS = 180_000

/**
 * Plans the change that brings the device to the peers. A peer is put once its edge key has the epoch of its public key; until then
 * the peer that the device has for its address stays, so that a rotation interrupts no traffic. Whatever else is in the device goes.
 */
export function planTunnel(facts: TunnelFacts): TunnelPlan {
  const known = indexOf(facts.device)
  const steps = facts.peers.map((peer) => stepOf(peer, facts, known)).filter((step) => step !== undefined)
  const kept = new Set(steps.map(({ publicKey }) => publicKey))
  return {
    put: steps.flatMap(({ put }) => put ?? []),
    remove: facts.device.map(({ publicKey }) => publicKey).filter((publicKey) => !kept.has(publicKey)),
    puts: new Map(steps.flatMap(({ nodeId, after }) => (after === undefined ? [] : [[nodeId, after] as const]))),
    routes: steps.map(({ route }) => route),
  }
}

/** What a peer needs of the device. */
interface Step {
  readonly nodeId: string
  /** The key under which the device has it afterwards. */
  readonly publicKey: string
  readonly put: DevicePeer | undefined
  readonly after: PutPeer | undefined
  readonly route: string
}

/** Undefined where the device neither has the peer nor can have it yet. */
function stepOf(peer: PeerFacts, facts: TunnelFacts, known: DeviceIndex): Step | undefined {
  const before = beforeOf(peer, facts, known)
  const wanted = wantedPut(peer, facts)
  const common = { nodeId: peer.node_id, route: networkOf(peer.mesh_address) }
  if (wanted !== undefined) {
    const put = isInForce(wanted, before) ? undefined : devicePeer(wanted, before, facts.nowMs)
    return { ...common, publicKey: wanted.publicKey, put, after: wanted }
  }
  if (before.device === undefined) return undefined
  return { ...common, publicKey: before.device.publicKey, put: undefined, after: before.put }
}

interface DeviceIndex {
  readonly byKey: ReadonlyMap<string, PeerStatus>
  /** Peers of the device with one allowed network, by that network. */
  readonly byNetwork: ReadonlyMap<string, PeerStatus>
}

function indexOf(device: readonly PeerStatus[]): DeviceIndex {
  const alone = device.filter(({ allowedIps }) => allowedIps.length === 1)
  return {
    byKey: new Map(device.map((peer) => [peer.publicKey, peer])),
    byNetwork: new Map(alone.map((peer) => [peer.allowedIps[0] ?? '', peer])),
  }
}

/** What was put for a peer, and what the device has for it: under its former key, under its present one, or at its address. */
interface Before {
  readonly put: PutPeer | undefined
  readonly device: PeerStatus | undefined
}

function beforeOf(peer: PeerFacts, { puts }: TunnelFacts, { byKey, byNetwork }: DeviceIndex): Before {
  const put = puts.get(peer.node_id)
  const ofPut = put && byKey.get(put.publicKey)
  return { put, device: ofPut ?? byKey.get(peer.public_key) ?? byNetwork.get(networkOf(peer.mesh_address)) }
}

function wantedPut(peer: PeerFacts, { keys, keepaliveSeconds }: TunnelFacts): PutPeer | undefined {
  const held = keys.get(peer.node_id)
  if (held === undefined || held.epoch.peer !== peer.psk_issued_at) return undefined
  const { public_key: publicKey, mesh_address: address, endpoint } = peer
  return { publicKey, presharedKey: held.key, endpoint, address, keepaliveSeconds }
}

function isInForce(wanted: PutPeer, { put, device }: Before): boolean {
  return (
    put !== undefined &&
    device?.publicKey === wanted.publicKey &&
    device.allowedIps.length === 1 &&
    device.allowedIps[0] === networkOf(wanted.address) &&
    put.address === wanted.address &&
    put.endpoint === wanted.endpoint &&
    put.keepaliveSeconds === wanted.keepaliveSeconds &&
    isSameKey(put.presharedKey, wanted.presharedKey)
  )
}

function isSameKey(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.from(one.buffer, one.byteOffset, one.length).equals(other)
}

function devicePeer(wanted: PutPeer, before: Before, nowMs: number): DevicePeer {
  return {
    publicKey: wanted.publicKey,
    presharedKey: wanted.presharedKey,
    endpoint: endpointOf(wanted, before, nowMs),
    allowedIps: [networkOf(wanted.address)],
    keepaliveSeconds: wanted.keepaliveSeconds,
  }
}

/**
 * The endpoint to set; undefined to keep what the device has. A peer may have moved to another address than the server knows, so a
 * working one is replaced only where the server gives a new one. It is carried over to a new public key of the peer.
 */
function endpointOf(wanted: PutPeer, { put, device }: Before, nowMs: number): string | undefined {
  const given = wanted.endpoint === '' ? undefined : wanted.endpoint
  if (device === undefined) return given
  const isNew = put === undefined ? !isWorking(device, nowMs) : put.endpoint !== wanted.endpoint
  if (isNew && given !== undefined) return given
  return device.publicKey === wanted.publicKey ? undefined : (device.endpoint ?? given)
}

/** Whether the device has a session with the peer. */
export function isWorking({ latestHandshakeMs }: Pick<PeerStatus, 'latestHandshakeMs'>, nowMs: number): boolean {
  return latestHandshakeMs !== undefined && nowMs - latestHandshakeMs < SESSION_MS
}

function networkOf(address: string): string {
  return `${address}/32`
}

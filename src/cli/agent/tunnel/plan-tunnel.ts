import type { PeerFacts } from '../../../client/agent/peers/peer-book.ts'
import type { EdgeEpoch } from '../../../shared/mesh/edge-epoch.ts'
import type { DevicePeer, PeerStatus } from '../device/device.ts'
import { hasSession } from '../device/session-age.ts'
import { isSameEndpoint, parseEndpoint } from '../endpoints/endpoint-address.ts'
import { replacesWorking } from './working-endpoint.ts'

/** An edge key that the agent holds. */
export interface HeldKey {
  readonly epoch: EdgeEpoch
  /** 32 bytes. */
  readonly key: Uint8Array
}

/** An endpoint that this process has set, and how many bytes had come by then. */
export interface PlacedEndpoint {
  readonly endpoint: string
  readonly receivedBytes: number
}

/** Another endpoint for a peer from which nothing comes. */
export interface Move {
  readonly endpoint: string
  /** The last handshake by then. After a newer one the peer stays where it is: a path that works is not replaced. */
  readonly latestHandshakeMs: number | undefined
}

/** What a peer is to have in the device. */
interface WantedPeer {
  readonly publicKey: string
  readonly presharedKey: Uint8Array
  /** As the server gave it; empty where it gave none. */
  readonly endpoint: string
  /** What is routed to it: its address, then the subnets behind it. */
  readonly networks: readonly string[]
  readonly keepaliveSeconds: number
}

/** What this process has put into the device for a peer. */
export interface PutPeer extends WantedPeer {
  /** Undefined where the device had an endpoint of its own. */
  readonly placed: PlacedEndpoint | undefined
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
  /** Other endpoints for peers from which nothing comes at the one that the device has, by node id. */
  readonly lost: ReadonlyMap<string, Move>
  /** Whether an endpoint is that of a relay. It is left by the choice of paths alone. */
  readonly isRelay: (endpoint: string) => boolean
  readonly keepaliveSeconds: number
  readonly nowMs: number
}

/** One change of the device, and what holds after it. */
export interface TunnelPlan {
  readonly put: readonly DevicePeer[]
  /** Public keys. */
  readonly remove: readonly string[]
  /** Public keys of the peers of the device that get another endpoint. */
  readonly moved: readonly string[]
  /** What is put afterwards, by node id. */
  readonly puts: ReadonlyMap<string, PutPeer>
  /** The networks of each peer in the device, never the whole mesh. */
  readonly routes: readonly string[]
}

/**
 * Plans the change that brings the device to the peers. A peer is put once its edge key has the epoch of its public key; until then
 * the peer that the device has for its address stays, so that a rotation interrupts no traffic. Whatever else is in the device goes.
 */
export function planTunnel(facts: TunnelFacts): TunnelPlan {
  const known = indexOf(facts)
  const steps = facts.peers.map((peer) => stepOf(peer, facts, known)).filter((step) => step !== undefined)
  const kept = new Set(steps.map(({ publicKey }) => publicKey))
  return {
    put: steps.flatMap(({ put }) => put ?? []),
    remove: facts.device.map(({ publicKey }) => publicKey).filter((publicKey) => !kept.has(publicKey)),
    moved: steps.filter(({ isMoved }) => isMoved).map(({ publicKey }) => publicKey),
    puts: new Map(steps.flatMap(({ nodeId, after }) => (after === undefined ? [] : [[nodeId, after] as const]))),
    routes: [...new Set(steps.flatMap(({ routes }) => routes))],
  }
}

/** What a peer needs of the device. */
interface Step {
  readonly nodeId: string
  /** The key under which the device has it afterwards. */
  readonly publicKey: string
  readonly put: DevicePeer | undefined
  readonly after: PutPeer | undefined
  readonly isMoved: boolean
  readonly routes: readonly string[]
}

/** Undefined where the device neither has the peer nor can have it yet. */
function stepOf(peer: PeerFacts, facts: TunnelFacts, known: DeviceIndex): Step | undefined {
  const before = beforeOf(peer, facts, known)
  const wanted = wantedPut(peer, facts)
  const [nodeId, routes] = [peer.node_id, networksOf(peer)]
  if (wanted !== undefined) return { nodeId, routes, ...putStep(wanted, before, facts) }
  if (before.device === undefined) return undefined
  const { publicKey, allowedIps } = before.device
  const kept = routes.filter((network, index) => index === 0 || allowedIps.includes(network))
  return { nodeId, routes: kept, publicKey, put: undefined, after: before.put, isMoved: false }
}

type PutStep = Omit<Step, 'nodeId' | 'routes'>

function putStep(wanted: WantedPeer, before: Before, facts: TunnelFacts): PutStep {
  const { publicKey } = wanted
  if (isInForce(wanted, before)) return { publicKey, put: undefined, after: before.put, isMoved: false }
  const put = devicePeer(wanted, before, facts.nowMs)
  const present = before.device?.publicKey === publicKey ? before.device : undefined
  return {
    publicKey,
    put,
    after: { ...wanted, placed: placedBy(put, present) ?? before.put?.placed },
    isMoved: present !== undefined && put.endpoint !== undefined && put.endpoint !== present.endpoint,
  }
}

function placedBy({ endpoint }: DevicePeer, present: PeerStatus | undefined): PlacedEndpoint | undefined {
  return endpoint === undefined ? undefined : { endpoint, receivedBytes: present?.receivedBytes ?? 0 }
}

interface DeviceIndex {
  readonly byKey: ReadonlyMap<string, PeerStatus>
  /** Those that an earlier run has left, by the address of their one node: what was put for one node is never that of another. */
  readonly byNetwork: ReadonlyMap<string, PeerStatus>
}

function indexOf({ peers, device, puts }: TunnelFacts): DeviceIndex {
  const owned = new Set([...puts.values()].map(({ publicKey }) => publicKey))
  const nodes = new Set(peers.map(({ mesh_address: address }) => networkOf(address)))
  const left = device.filter(({ publicKey }) => !owned.has(publicKey))
  return {
    byKey: new Map(device.map((peer) => [peer.publicKey, peer])),
    byNetwork: new Map(
      left.flatMap((peer) => {
        const [network, ...others] = peer.allowedIps.filter((one) => nodes.has(one))
        return network === undefined || others.length > 0 ? [] : [[network, peer] as const]
      }),
    ),
  }
}

/** What was put for a peer, and what the device has for it: under its former key, under its present one, or at its address. */
interface Before {
  readonly put: PutPeer | undefined
  readonly device: PeerStatus | undefined
  /** Undefined while packets come, or may come, from the endpoint of the device. */
  readonly elsewhere: string | undefined
  readonly isRelayed: boolean
}

function beforeOf(peer: PeerFacts, { puts, lost, isRelay }: TunnelFacts, { byKey, byNetwork }: DeviceIndex): Before {
  const put = puts.get(peer.node_id)
  const ofPut = put && byKey.get(put.publicKey)
  const device = ofPut ?? byKey.get(peer.public_key) ?? byNetwork.get(networkOf(peer.mesh_address))
  const move = lost.get(peer.node_id)
  const isStill = move !== undefined && device?.latestHandshakeMs === move.latestHandshakeMs
  const isRelayed = device?.endpoint !== undefined && isRelay(device.endpoint)
  // The relay may have been chosen since the move was asked for.
  return { put, device, elsewhere: isStill && !isRelayed ? move.endpoint : undefined, isRelayed }
}

function wantedPut(peer: PeerFacts, { keys, keepaliveSeconds }: TunnelFacts): WantedPeer | undefined {
  const held = keys.get(peer.node_id)
  if (held === undefined || held.epoch.peer !== peer.psk_issued_at) return undefined
  const { public_key: publicKey, endpoint } = peer
  return { publicKey, presharedKey: held.key, endpoint, networks: networksOf(peer), keepaliveSeconds }
}

function isInForce(wanted: WantedPeer, { put, device, elsewhere }: Before): boolean {
  return (
    elsewhere === undefined &&
    put !== undefined &&
    device?.publicKey === wanted.publicKey &&
    isSameSet(device.allowedIps, wanted.networks) &&
    isSameSet(put.networks, wanted.networks) &&
    put.endpoint === wanted.endpoint &&
    put.keepaliveSeconds === wanted.keepaliveSeconds &&
    isSameKey(put.presharedKey, wanted.presharedKey)
  )
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && other.every((text) => one.includes(text))
}

function isSameKey(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.from(one.buffer, one.byteOffset, one.length).equals(other)
}

function devicePeer(wanted: WantedPeer, before: Before, nowMs: number): DevicePeer {
  return {
    publicKey: wanted.publicKey,
    presharedKey: wanted.presharedKey,
    endpoint: endpointOf(wanted, before, nowMs),
    allowedIps: wanted.networks,
    keepaliveSeconds: wanted.keepaliveSeconds,
  }
}

/**
 * The endpoint to set; undefined to keep what the device has. A peer may have moved to another address than the server knows, so a
 * working one is replaced only where the server gives a new one. It is carried over to a new public key of the peer.
 */
function endpointOf(wanted: WantedPeer, before: Before, nowMs: number): string | undefined {
  const given = wanted.endpoint === '' ? undefined : wanted.endpoint
  const { device, elsewhere } = before
  if (elsewhere !== undefined) return elsewhere
  if (device === undefined) return given
  if (given !== undefined && isReplaced(given, before, nowMs)) return given
  return device.publicKey === wanted.publicKey ? undefined : (carriedEndpoint(device) ?? given)
}

/** A peer of the same link may speak from an address with a zone, which the device refuses to be given. */
function carriedEndpoint({ endpoint }: PeerStatus): string | undefined {
  return endpoint === undefined || parseEndpoint(endpoint) === undefined ? undefined : endpoint
}

function isReplaced(given: string, { put, device, isRelayed }: Before, nowMs: number): boolean {
  if (isRelayed) return false
  const isGivenAgain = put === undefined || !isSameEndpoint(put.endpoint, given)
  if (!isGivenAgain) return false
  if (device === undefined || !hasSession(device, nowMs)) return true
  return put !== undefined && replacesWorking(given, device.endpoint)
}

function networkOf(address: string): string {
  return `${address}/32`
}

function networksOf({ mesh_address: address, subnets }: PeerFacts): readonly string[] {
  return [networkOf(address), ...subnets]
}

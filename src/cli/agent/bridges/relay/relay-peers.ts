import { formatEndpoint, parseEndpoint, type EndpointAddress } from '../../endpoints/endpoint-address.ts'
import { keyOfBase64 } from '../../device/keys.ts'
import { isMarkedFor, mac1Key } from './mac1.ts'
import { createTokenBucket, type BucketSize } from './token-bucket.ts'

/** A peer as the host knows it from the server and from its own tunnel. */
export interface RelayPeer {
  readonly nodeId: string
  /** In base64. */
  readonly publicKey: string
  /** Where the server or the tunnel of the host has it, `address:port` each, the surest first. */
  readonly endpoints: readonly string[]
  /** Where others reach the relay of its edges, `address:port`; undefined where it has none. */
  readonly fallback: string | undefined
}

/** A peer, with its endpoints read. */
export interface KnownPeer extends Omit<RelayPeer, 'endpoints'> {
  readonly endpoints: readonly EndpointAddress[]
}

/** A handshake message whose addressee is wanted. */
export interface Marked {
  readonly packet: Buffer
  /** Bytes before its mac1. */
  readonly signedBytes: number
  /** Ids of nodes that are tried first. */
  readonly hints: readonly string[]
}

/** The peers between which packets are forwarded. */
export interface RelayPeers {
  /** Takes those that the host has now, and returns whether one has a new public key. A former key goes on for a while. */
  take(peers: readonly RelayPeer[]): boolean
  find(nodeId: string): KnownPeer | undefined
  /** Ids of the peers with an endpoint at that address. */
  at(host: string): readonly string[]
  /** The peer to which a handshake message is addressed; undefined where that is none of them. */
  addressee(marked: Marked): KnownPeer | undefined
}

/** A peer that has not pulled since a rotation sends to the former key. */
const FORMER_MS = 180_000
/** Public keys that are tried for messages of senders of which nothing is known: each takes about 15 µs. */
const TRIALS: BucketSize = { burst: 20_000, perSecond: 10_000 }

interface HeldKey {
  readonly key: Uint8Array
  /** Milliseconds; undefined: as long as the peer has it. */
  readonly untilMs: number | undefined
}

const NO_KEYS: ReadonlyMap<string, HeldKey> = new Map()

/** Makes the list, empty. `now`: milliseconds. */
export function createRelayPeers(now: () => number): RelayPeers {
  const trials = createTokenBucket(TRIALS, now)
  let peers: ReadonlyMap<string, KnownPeer> = new Map()
  let byHost: ReadonlyMap<string, readonly string[]> = new Map()
  const keys = new Map<string, ReadonlyMap<string, HeldKey>>()

  function keysOf({ nodeId, publicKey }: RelayPeer): ReadonlyMap<string, HeldKey> {
    const before = keys.get(nodeId) ?? NO_KEYS
    const held = new Map<string, HeldKey>()
    const key = before.get(publicKey)?.key ?? keyFor(publicKey)
    if (key !== undefined) held.set(publicKey, { key, untilMs: undefined })
    for (const [text, former] of before) {
      const untilMs = former.untilMs ?? now() + FORMER_MS
      if (text !== publicKey && untilMs > now()) held.set(text, { ...former, untilMs })
    }
    return held
  }

  const isAddressee = (nodeId: string, { packet, signedBytes }: Marked): boolean =>
    [...(keys.get(nodeId)?.values() ?? [])].some(
      ({ key, untilMs }) => (untilMs ?? Infinity) > now() && isMarkedFor(key, packet, signedBytes),
    )

  return {
    take(given) {
      const isNew = given.some(({ nodeId, publicKey }) => keys.get(nodeId)?.has(publicKey) !== true)
      const relays = new Set(given.flatMap(({ fallback }) => fallback ?? []))
      peers = new Map(given.map((peer) => [peer.nodeId, { ...peer, endpoints: endpointsOf(peer, relays) }]))
      byHost = hostsOf(peers)
      for (const nodeId of keys.keys()) if (!peers.has(nodeId)) keys.delete(nodeId)
      for (const peer of given) keys.set(peer.nodeId, keysOf(peer))
      return isNew
    },
    find: (nodeId) => peers.get(nodeId),
    at: (host) => byHost.get(host) ?? [],
    addressee(marked) {
      const hinted = marked.hints.find((nodeId) => isAddressee(nodeId, marked))
      if (hinted !== undefined) return peers.get(hinted)
      if (!trials.take(peers.size)) return undefined
      for (const peer of peers.values()) if (isAddressee(peer.nodeId, marked)) return peer
      return undefined
    },
  }
}

function keyFor(publicKey: string): Uint8Array | undefined {
  const raw = keyOfBase64(publicKey)
  return raw === undefined ? undefined : mac1Key(raw)
}

/** Without addresses of relays: two that have each other's would send a packet to and fro. */
function endpointsOf({ endpoints }: RelayPeer, relays: ReadonlySet<string>): readonly EndpointAddress[] {
  return endpoints.flatMap((text) => {
    const address = parseEndpoint(text)
    return address === undefined || relays.has(formatEndpoint(address)) ? [] : [address]
  })
}

function hostsOf(peers: ReadonlyMap<string, KnownPeer>): ReadonlyMap<string, readonly string[]> {
  const byHost = new Map<string, string[]>()
  for (const { nodeId, endpoints } of peers.values())
    for (const host of new Set(endpoints.map((each) => each.host))) {
      const known = byHost.get(host)
      if (known === undefined) byHost.set(host, [nodeId])
      else known.push(nodeId)
    }
  return byHost
}

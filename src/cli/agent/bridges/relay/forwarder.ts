import { formatEndpoint, type EndpointAddress } from '../../endpoints/endpoint-address.ts'
import { createBindings, type Binding } from './bindings.ts'
import { createBoundedMap } from './bounded-map.ts'
import { destinationsOf } from './destinations.ts'
import { readMessage, SIGNED_BYTES, type Message } from './message.ts'
import { createRelayPeers, type KnownPeer, type RelayPeer } from './relay-peers.ts'
import { createSources } from './sources.ts'

/** Whose edges a relay carries. */
export interface RelayTerms {
  /** `listen_port` of the relay. */
  readonly port: number
  /** Ids of the nodes that prefer the relay; empty: any node. */
  readonly assigned: ReadonlySet<string>
}

/** Decides where the packets of one relay go. It holds no socket. */
export interface Forwarder {
  /** Takes the peers that the host has now. */
  setPeers(peers: readonly RelayPeer[]): void
  setTerms(terms: RelayTerms): void
  /** The addresses to which a packet is sent; none: it is dropped. */
  take(packet: Buffer, from: EndpointAddress): readonly EndpointAddress[]
  /** Forgets what is idle. Call it every few seconds. */
  sweep(): void
  /** Number of things that it remembers, all of which are bounded. */
  readonly size: number
}

interface Handshake {
  readonly from: EndpointAddress
  readonly peer: KnownPeer
}

/** One direction of a session: where packets with an index of the far end go. */
interface Direction {
  readonly to: EndpointAddress
  readonly sender: Binding
}

const HANDSHAKES = { entriesMax: 16_384, perOwnerMax: 512, idleMs: 10_000 } as const
/** Two directions each; sessions of WireGuard end after 180 s. */
const DIRECTIONS = { entriesMax: 131_072, perOwnerMax: 8_192, idleMs: 180_000 } as const

const NOWHERE: readonly EndpointAddress[] = []

/**
 * Makes a forwarder. It cannot read packets, and what a sender claims is not proven by mac1. So a message goes only to a peer of the
 * host, and each answer only to the address that asked for it: no packet comes where none was expected.
 */
export function createForwarder(initial: RelayTerms, now: () => number): Forwarder {
  const peers = createRelayPeers(now)
  const sources = createSources(now)
  const bindings = createBindings(now)
  const handshakes = createBoundedMap<Handshake>(HANDSHAKES, now)
  const directions = createBoundedMap<Direction>(DIRECTIONS, now)
  let terms = initial

  /** The server sends others here for this peer, or any node may come. */
  function isCarried({ nodeId, fallback }: KnownPeer): boolean {
    return terms.assigned.size === 0 || terms.assigned.has(nodeId) || fallback?.endsWith(`:${terms.port}`) === true
  }

  /** An edge is carried where one of its ends is. Who begins it is known only by where it is. */
  function mayBegin(from: EndpointAddress, peer: KnownPeer): boolean {
    if (isCarried(peer)) return true
    const bound = bindings.at(from)
    const senders = bound === undefined ? peers.at(from.host) : [bound]
    return senders.some((nodeId) => isCarriedId(nodeId))
  }

  function isCarriedId(nodeId: string): boolean {
    const peer = peers.find(nodeId)
    return peer !== undefined && isCarried(peer)
  }

  function begin(packet: Buffer, from: EndpointAddress, sender: number): readonly EndpointAddress[] {
    if (!sources.admits(from)) return NOWHERE
    const hints = sources.find(from)?.targets ?? []
    const peer = peers.addressee({ packet, signedBytes: SIGNED_BYTES.initiation, hints })
    if (peer === undefined || !mayBegin(from, peer)) return NOWHERE
    sources.note(from, peer.nodeId)
    const all = destinationsOf(peer, from, { bindings, sources, now })
    for (const to of all) handshakes.set(keyOf(to, sender), peer.nodeId, { from, peer })
    return all
  }

  function answer(
    packet: Buffer,
    from: EndpointAddress,
    { sender, receiver }: Extract<Message, { kind: 'response' }>,
  ): readonly EndpointAddress[] {
    const handshake = handshakes.get(keyOf(from, receiver))
    if (handshake === undefined) return NOWHERE
    const hints = peers.at(handshake.from.host)
    // A response is marked for who began: only its true addressee has read that.
    const initiator = peers.addressee({ packet, signedBytes: SIGNED_BYTES.response, hints })
    if (initiator === undefined || !(isCarried(initiator) || isCarried(handshake.peer))) return NOWHERE
    const near = bindings.set(initiator.nodeId, handshake.from)
    const far = bindings.set(handshake.peer.nodeId, from)
    const owner = handshake.peer.nodeId
    directions.set(keyOf(near.address, sender), owner, { to: from, sender: near })
    directions.set(keyOf(from, receiver), owner, { to: handshake.from, sender: far })
    return [handshake.from]
  }

  function pass(from: EndpointAddress, receiver: number): readonly EndpointAddress[] {
    const direction = directions.use(keyOf(from, receiver))
    if (direction === undefined) return NOWHERE
    direction.sender.usedMs = now()
    return [direction.to]
  }

  function passCookie(from: EndpointAddress, receiver: number): readonly EndpointAddress[] {
    const handshake = handshakes.get(keyOf(from, receiver))
    return handshake === undefined ? pass(from, receiver) : [handshake.from]
  }

  return {
    setPeers: (given) => peers.take(given),
    setTerms(next) {
      terms = next
    },
    take(packet, from) {
      const message = readMessage(packet)
      if (message === undefined) return NOWHERE
      if (message.kind === 'data') return pass(from, message.receiver)
      if (message.kind === 'initiation') return begin(packet, from, message.sender)
      return message.kind === 'response' ? answer(packet, from, message) : passCookie(from, message.receiver)
    },
    sweep() {
      sources.sweep()
      handshakes.sweep()
      directions.sweep()
      bindings.sweep((nodeId) => peers.find(nodeId) !== undefined)
    },
    get size() {
      return sources.size + handshakes.size + directions.size
    },
  }
}

function keyOf(address: EndpointAddress, index: number): string {
  return `${formatEndpoint(address)}/${index}`
}

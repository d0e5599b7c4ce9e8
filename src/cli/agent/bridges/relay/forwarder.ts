import { formatEndpoint, type EndpointAddress } from '../../endpoints/endpoint-address.ts'
import { createBindings, type Binding } from './bindings.ts'
import { createBoundedMap } from './bounded-map.ts'
import { createDestinations } from './destinations.ts'
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
  /** Takes the peers that the host has now, and returns whether one has a new public key. */
  setPeers(peers: readonly RelayPeer[]): boolean
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

/** The two ends of a session. */
interface Ends {
  readonly near: Binding
  readonly far: Binding
  /** Those that have sent a packet of it; both: each has taken the other for the peer that it wants. */
  readonly senders: Set<Binding>
}

/** One direction of a session: where packets with an index of the far end go. */
interface Direction {
  readonly to: EndpointAddress
  readonly sender: Binding
  readonly ends: Ends
}

const HANDSHAKES = { entriesMax: 16_384, perOwnerMax: 512, idleMs: 10_000 } as const
/** Two directions each; sessions of WireGuard end after 180 s. */
const DIRECTIONS = { entriesMax: 131_072, perOwnerMax: 8_192, idleMs: 180_000 } as const

const NOWHERE: readonly EndpointAddress[] = []

/**
 * Makes a forwarder. It cannot read packets, and what a sender claims is not proven by mac1. So a message goes only to a peer of the
 * host, and each answer only to the address that asked for it: no packet comes where none was expected. `onUnknown` is called with
 * handshake messages that no known public key fits.
 */
export function createForwarder(
  initial: RelayTerms,
  now: () => number,
  onUnknown: (packet: Buffer, from: EndpointAddress) => void = () => undefined,
): Forwarder {
  const peers = createRelayPeers(now)
  const sources = createSources(now)
  const bindings = createBindings({ now, isAtHost: (nodeId, host) => peers.at(host).includes(nodeId) })
  const destinations = createDestinations({ bindings, sources, now })
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
    const bound = bindings.at(from).flatMap(({ nodeId, isConfirmed }) => (isConfirmed ? [nodeId] : []))
    const senders = bound.length === 0 ? peers.at(from.host) : bound
    return senders.some((nodeId) => {
      const sender = peers.find(nodeId)
      return sender !== undefined && isCarried(sender)
    })
  }

  function begin(packet: Buffer, from: EndpointAddress, sender: number): readonly EndpointAddress[] {
    if (!sources.admits(from)) return NOWHERE
    const hints = sources.find(from)?.targets ?? []
    const peer = peers.addressee({ packet, signedBytes: SIGNED_BYTES.initiation, hints })
    if (peer === undefined) onUnknown(packet, from)
    if (peer === undefined || !mayBegin(from, peer)) return NOWHERE
    sources.note(from, peer.nodeId)
    const all = destinations.of(peer, from)
    for (const to of all) handshakes.set(keyOf(to, sender), ownerOf(peer, from), { from, peer })
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
    if (initiator === undefined) onUnknown(packet, from)
    if (initiator === undefined || !(isCarried(initiator) || isCarried(handshake.peer))) return NOWHERE
    const near = bindings.note(initiator.nodeId, handshake.from)
    const far = bindings.note(handshake.peer.nodeId, from)
    const ends = { near, far, senders: new Set<Binding>() }
    const owner = ownerOf(handshake.peer, from)
    directions.set(keyOf(near.address, sender), owner, { to: from, sender: near, ends })
    directions.set(keyOf(from, receiver), owner, { to: handshake.from, sender: far, ends })
    return [handshake.from]
  }

  /** Notes that an end has sent a packet of the session. */
  function heard(sender: Binding, { near, far, senders }: Ends): void {
    sender.usedMs = now()
    if (senders.has(sender)) return
    senders.add(sender)
    if (senders.size < 2) return
    bindings.confirm(near)
    bindings.confirm(far)
    destinations.confirm(near.address, far.nodeId, far.address)
    destinations.confirm(far.address, near.nodeId, near.address)
  }

  function pass(from: EndpointAddress, receiver: number): readonly EndpointAddress[] {
    const direction = directions.use(keyOf(from, receiver))
    if (direction === undefined) return NOWHERE
    heard(direction.sender, direction.ends)
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
      destinations.sweep()
      handshakes.sweep()
      directions.sweep()
      bindings.sweep((nodeId) => peers.find(nodeId) !== undefined)
    },
    get size() {
      return sources.size + destinations.size + handshakes.size + directions.size
    },
  }
}

/** What is remembered is limited for each peer and each host that causes it: a flood of one host leaves what others cause. */
function ownerOf({ nodeId }: KnownPeer, { host }: EndpointAddress): string {
  return `${nodeId} ${host}`
}

function keyOf(address: EndpointAddress, index: number): string {
  return `${formatEndpoint(address)}/${index}`
}

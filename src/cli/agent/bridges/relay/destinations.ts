import { formatEndpoint, type EndpointAddress } from '../../endpoints/endpoint-address.ts'
import type { Bindings } from './bindings.ts'
import { createBoundedMap } from './bounded-map.ts'
import type { KnownPeer } from './relay-peers.ts'
import type { Sources } from './sources.ts'

/** What is known of the places of peers. */
export interface Places {
  readonly bindings: Bindings
  readonly sources: Sources
  readonly now: () => number
}

/** Where handshakes with peers are sent. */
export interface Destinations {
  /** The addresses for a handshake that came from `from`, at most four. */
  of(peer: KnownPeer, from: EndpointAddress): readonly EndpointAddress[]
  /** The sender exchanged packets with the peer at that address: only the peer itself can make the sender do so. */
  confirm(from: EndpointAddress, nodeId: string, to: EndpointAddress): void
  sweep(): void
  readonly size: number
}

/** Where a sender has the peer. */
interface Way {
  readonly to: EndpointAddress
  /** Handshakes in succession that were sent there, and after which no packets went both ways. */
  unanswered: number
}

/** A handshake is sent to so many addresses at most: a spoofed one causes no more than that. */
const COPIES_MAX = 4
/** Addresses among them from which the peer has answered nothing yet. */
const GUESSES_MAX = 2
/** A way that leaves so many handshakes unanswered is doubted: the peer may have moved. */
const UNANSWERED_MAX = 2
const WAYS = { entriesMax: 131_072, perOwnerMax: 8_192, idleMs: 180_000 } as const
const TRIED = { entriesMax: 16_384, perOwnerMax: 256, idleMs: 180_000 } as const

/**
 * Makes it, empty. A sender whose packets went both ways gets that address alone. Any other one gets copies sent to all places where the
 * peer may be, in turn where they are many: only the peer itself can answer in a way that the sender takes, and an address that another
 * host has bound to it takes nothing from the others.
 */
export function createDestinations({ bindings, sources, now }: Places): Destinations {
  const ways = createBoundedMap<Way>(WAYS, now)
  const tried = createBoundedMap<number>(TRIED, now)

  const triedMs = (nodeId: string, address: EndpointAddress): number => tried.get(keyOf(nodeId, address)) ?? 0

  /** Those first that were not tried for the longest time. */
  const inTurn = (nodeId: string, addresses: readonly EndpointAddress[]): readonly EndpointAddress[] =>
    addresses.toSorted((one, other) => triedMs(nodeId, one) - triedMs(nodeId, other))

  /** The addresses of the peer's hosts from which handshakes came, and that may be it. */
  function guessesOf(peer: KnownPeer): readonly EndpointAddress[] {
    const hosts = new Set(peer.endpoints.map(({ host }) => host))
    const isOthers = (address: EndpointAddress): boolean => {
      const bound = bindings.at(address)
      return bound.some(({ isConfirmed }) => isConfirmed) && !bound.some(({ nodeId }) => nodeId === peer.nodeId)
    }
    const found = [...hosts].flatMap((host) => sources.at(host))
    const mayBe = found.filter(({ address, targets }) => !targets.includes(peer.nodeId) && !isOthers(address))
    return inTurn(
      peer.nodeId,
      mayBe.map(({ address }) => address),
    ).slice(0, GUESSES_MAX)
  }

  function everywhere(peer: KnownPeer, from: EndpointAddress): readonly EndpointAddress[] {
    const [best, ...others] = bindings.of(peer.nodeId).map(({ address }) => address)
    const [next, ...more] = inTurn(peer.nodeId, [...others, ...peer.endpoints])
    const all = [best, next, ...guessesOf(peer), ...more].filter((address) => address !== undefined)
    const byText = new Map(all.map((address) => [formatEndpoint(address), address]))
    byText.delete(formatEndpoint(from))
    const chosen = [...byText.values()].slice(0, COPIES_MAX)
    for (const address of chosen) tried.set(keyOf(peer.nodeId, address), peer.nodeId, now())
    return chosen
  }

  return {
    of(peer, from) {
      const way = ways.use(keyOf(peer.nodeId, from))
      if (way !== undefined) way.unanswered += 1
      return way !== undefined && way.unanswered <= UNANSWERED_MAX ? [way.to] : everywhere(peer, from)
    },
    confirm: (from, nodeId, to) => ways.set(keyOf(nodeId, from), from.host, { to, unanswered: 0 }),
    sweep() {
      ways.sweep()
      tried.sweep()
    },
    get size() {
      return ways.size + tried.size
    },
  }
}

function keyOf(nodeId: string, address: EndpointAddress): string {
  return `${nodeId} ${formatEndpoint(address)}`
}

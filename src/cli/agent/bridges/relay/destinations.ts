import { formatEndpoint, type EndpointAddress } from '../../endpoints/endpoint-address.ts'
import type { Bindings } from './bindings.ts'
import type { KnownPeer } from './relay-peers.ts'
import type { Source, Sources } from './sources.ts'

/** What is known of the places of peers. */
export interface Places {
  readonly bindings: Bindings
  readonly sources: Sources
  readonly now: () => number
}

/** A handshake is sent to so many addresses at most: a spoofed one causes no more than that. */
const COPIES_MAX = 2
/** A binding that leaves so many handshakes unanswered is doubted: another address may be the peer. */
const UNANSWERED_MAX = 2

/**
 * Where a handshake with a peer is sent. The address at which it answered is sure. Else it may be each address of its host that began
 * a handshake here, and its endpoint: only the peer itself can answer.
 */
export function destinationsOf(peer: KnownPeer, from: EndpointAddress, places: Places): readonly EndpointAddress[] {
  const { bindings, now } = places
  const binding = bindings.of(peer.nodeId)
  if (binding !== undefined) binding.unanswered += 1
  if (binding !== undefined && binding.unanswered <= UNANSWERED_MAX) return [binding.address]
  const guesses = guessesOf(peer, places)
  for (const guess of guesses) guess.triedMs = now()
  const all = [
    ...guesses.map(({ address }) => address),
    ...(binding === undefined ? [] : [binding.address]),
    ...peer.endpoints,
  ]
  const byText = new Map(all.map((address) => [formatEndpoint(address), address]))
  byText.delete(formatEndpoint(from))
  return [...byText.values()].slice(0, COPIES_MAX)
}

/** The addresses of the peer's hosts that may be it, those first that were not tried for the longest time. */
function guessesOf(peer: KnownPeer, { bindings, sources }: Places): readonly Source[] {
  const hosts = new Set(peer.endpoints.map(({ host }) => host))
  const mayBe = ({ address, targets }: Source): boolean =>
    !targets.includes(peer.nodeId) && (bindings.at(address) ?? peer.nodeId) === peer.nodeId
  return [...hosts]
    .flatMap((host) => sources.at(host))
    .filter(mayBe)
    .toSorted((one, other) => one.triedMs - other.triedMs)
    .slice(0, COPIES_MAX)
}

import { createPeerPlaces, type PlacedPeer } from './peer-places.ts'
import { createWeakList } from './weak-list.ts'

/** The facts of a peer, from pulls and events. */
export interface PeerFacts {
  readonly node_id: string
  /** Empty if the server is too old to give it. */
  readonly name: string
  readonly public_key: string
  readonly mesh_address: string
  /** Empty if none is known or the last one is stale. */
  readonly endpoint: string
  /** `address:port` of the relay of the edges to it; absent where there is none. */
  readonly fallback_endpoint?: string
  /** UTC, nine fractional digits. */
  readonly psk_issued_at: string
  /** Ascending. */
  readonly groups: readonly number[]
  /** Further addresses, `address:port`, beside the endpoint. */
  readonly candidates: readonly string[]
  /** Networks that are reached through the peer, as CIDRs, sorted. */
  readonly subnets: readonly string[]
}

/** A list with the numbers of facts that a view, or a pull, refers to; 0 is none. */
export type FactNumbers = Uint32Array | ReadonlyMap<number, number>

/**
 * The peer facts of all agents of the process. It stores equal facts once, and agents refer to them by number. Without it,
 * ten thousand agents would store ten thousand copies. Facts that no kept list of numbers has are freed, and no other facts
 * get their number.
 */
export interface PeerBook {
  /** Stores the facts unless they are known. Returns their number, from 1. They stay at least until the next `free`. */
  enter(facts: PeerFacts): number
  /** The facts with that number. @throws RangeError if there are none. */
  read(number: number): PeerFacts
  /** Keeps the facts whose numbers the list has at any time, for as long as the list itself is referred to. */
  keep(numbers: FactNumbers): void
  /** Frees facts whose numbers no list has, once there are many. */
  free(): void
  /** The index of a peer in views, from 0; undefined if the book has no facts of it. */
  placeOf(nodeId: string): number | undefined
  /** The index of the peer that the facts with that number describe. */
  placeOfFacts(number: number): number
  /** The indexes of all peers with facts, ordered by node id. The same array until a peer is added or freed. */
  sorted(): readonly number[]
  /** The number of the newest facts of the peer at that index; 0 if there are none. */
  latest(place: number): number
  /** Number of peers with facts. */
  size(): number
  /** One more than the highest index of a peer. */
  places(): number
  /** Number of facts. */
  facts(): number
  /** The facts with higher numbers, by number, ascending. */
  after(number: number): readonly (readonly [number: number, facts: PeerFacts])[]
}

/** How an owner of a book learns what it does. */
export interface PeerBookOptions {
  /** The facts with that number are freed. */
  readonly onFreed?: (number: number) => void
}

interface KnownFacts {
  readonly facts: PeerFacts
  readonly peer: PlacedPeer
}

/** Looking for what nothing refers to takes time for each peer of each agent: it waits for so many facts at least. */
const FREED_FACTS_MIN = 1_000

/** Makes an empty book. */
export function createPeerBook({ onFreed }: PeerBookOptions = {}): PeerBook {
  const peers = createPeerPlaces()
  const known = new Map<number, KnownFacts>()
  const kept = createWeakList<FactNumbers>()
  let lastNumber = 0
  let factsMax = FREED_FACTS_MIN

  const knownAt = (number: number): KnownFacts => known.get(number) ?? unknown(number)

  function remove(number: number, { facts, peer }: KnownFacts): void {
    known.delete(number)
    peer.numbers.splice(peer.numbers.indexOf(number), 1)
    if (peer.numbers.length === 0) peers.remove(facts.node_id)
    onFreed?.(number)
  }

  return {
    placeOf: (nodeId) => peers.find(nodeId)?.place,
    placeOfFacts: (number) => knownAt(number).peer.place,
    enter(facts) {
      const peer = peers.find(facts.node_id) ?? peers.add(facts.node_id)
      // From the end, because the newest facts are the most frequent.
      const same = peer.numbers.findLast((number) => isSame(known.get(number)?.facts, facts))
      if (same !== undefined) return same
      lastNumber += 1
      known.set(lastNumber, { facts, peer })
      peer.numbers.push(lastNumber)
      return lastNumber
    },
    read: (number) => knownAt(number).facts,
    keep: (numbers) => kept.add(numbers),
    free() {
      if (known.size <= factsMax) return
      const marks = marksOf(kept.alive(), lastNumber)
      for (const [number, each] of known) if (marks[number] === 0) remove(number, each)
      // In proportion, so that the search costs each new fact the same.
      factsMax = 2 * known.size + FREED_FACTS_MIN
    },
    sorted: () => peers.sorted(),
    size: () => peers.size(),
    places: () => peers.places(),
    latest: (place) => peers.at(place)?.numbers.at(-1) ?? 0,
    facts: () => known.size,
    after: (number) =>
      Array.from({ length: lastNumber - number }, (_, index) => number + index + 1).flatMap((each) => {
        const facts = known.get(each)?.facts
        return facts === undefined ? [] : [[each, facts] as const]
      }),
  }
}

/** By fact number: 1 where one of the lists has it. */
function marksOf(lists: readonly FactNumbers[], lastNumber: number): Uint8Array {
  const marks = new Uint8Array(lastNumber + 1)
  for (const list of lists)
    list.forEach((number: number) => {
      marks[number] = 1
    })
  return marks
}

function unknown(number: number): never {
  throw new RangeError(`the book has no number ${number}`)
}

/** Whether the compared members are equal. */
export function isSame(one: PeerFacts | undefined, other: PeerFacts): boolean {
  return (
    one?.endpoint === other.endpoint &&
    one.fallback_endpoint === other.fallback_endpoint &&
    one.psk_issued_at === other.psk_issued_at &&
    one.public_key === other.public_key &&
    one.mesh_address === other.mesh_address &&
    one.name === other.name &&
    isSameList(one.groups, other.groups) &&
    isSameList(one.candidates, other.candidates) &&
    isSameList(one.subnets, other.subnets)
  )
}

function isSameList<Item>(one: readonly Item[], other: readonly Item[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index])
}

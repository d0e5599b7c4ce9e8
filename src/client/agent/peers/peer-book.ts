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

/**
 * The peer facts of all agents of the process. It stores equal facts once, and agents refer to them by number. Without it,
 * ten thousand agents would store ten thousand copies.
 */
export interface PeerBook {
  /** Stores the facts unless they are known. Returns their number, from 1. */
  enter(facts: PeerFacts): number
  /** The facts with that number. @throws RangeError if there are none. */
  read(number: number): PeerFacts
  /** The index of a peer in views, from 0. */
  placeOf(nodeId: string): number
  /** The index of the peer that the facts with that number describe. */
  placeOfFacts(number: number): number
  /** The indexes of all peers with facts, ordered by node id. The same array until a peer is added. */
  sorted(): readonly number[]
  /** The number of the newest facts of the peer at that index; 0 if there are none. */
  latest(place: number): number
  /** Number of peers. */
  size(): number
  /** Number of facts, which is the highest fact number. */
  facts(): number
}

/** Makes an empty book. */
export function createPeerBook(): PeerBook {
  const places = new Map<string, number>()
  const facts: PeerFacts[] = []
  /** Index of the peer, by fact number minus one. */
  const placesOfFacts: number[] = []
  /** Numbers of all facts of a peer, by its index. */
  const numbers: number[][] = []
  let sorted: readonly number[] | undefined

  function placeOf(nodeId: string): number {
    const known = places.get(nodeId)
    if (known !== undefined) return known
    places.set(nodeId, places.size)
    numbers.push([])
    return places.size - 1
  }

  const latest = (place: number): number => numbers[place]?.at(-1) ?? 0

  return {
    placeOf,
    placeOfFacts: (number) => placesOfFacts[number - 1] ?? unknown(number),
    enter(peer) {
      const place = placeOf(peer.node_id)
      const ofPeer = numbers[place] ?? []
      // From the end, because the newest facts are the most frequent.
      const known = ofPeer.findLast((number) => isSame(facts[number - 1], peer))
      if (known !== undefined) return known
      if (ofPeer.length === 0) sorted = undefined
      facts.push(peer)
      placesOfFacts.push(place)
      ofPeer.push(facts.length)
      return facts.length
    },
    read(number) {
      return facts[number - 1] ?? unknown(number)
    },
    sorted: () =>
      (sorted ??= [...places.keys()]
        .toSorted()
        .map(placeOf)
        .filter((place) => latest(place) > 0)),
    latest,
    size: () => places.size,
    facts: () => facts.length,
  }
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

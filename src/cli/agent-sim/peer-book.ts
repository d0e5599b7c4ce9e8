/** What agents know of a peer, as pulls show it and events tell it. */
export interface PeerFacts {
  readonly node_id: string
  readonly public_key: string
  readonly mesh_address: string
  /** Empty while none is known or the last one is stale. */
  readonly endpoint: string
  /** UTC, nine fractional digits. */
  readonly psk_issued_at: string
}

/**
 * Facts as all agents of the process know them, each kept once: an agent holds the numbers of those that it believes. Ten
 * thousand agents who know of each other would take ten thousand copies of the same otherwise.
 */
export interface PeerBook {
  /** The number of these facts, from 1. */
  enter(facts: PeerFacts): number
  /** The facts of a number. */
  read(number: number): PeerFacts
  /** The place of a peer in a view, from 0. */
  placeOf(nodeId: string): number
  /** That of the peer of which the facts with that number are. */
  placeOfFacts(number: number): number
  /** The places of peers of whom anything was said, by node id. The same list until there is another such peer. */
  sorted(): readonly number[]
  /** The number of the facts that were entered last of the peer at a place, 0 for none. */
  latest(place: number): number
  /** Peers that were ever entered. */
  size(): number
  /** The highest number. */
  facts(): number
}

/** Makes an empty book. */
export function createPeerBook(): PeerBook {
  const places = new Map<string, number>()
  const facts: PeerFacts[] = []
  /** By number, less one: the place of the peer. */
  const placesOfFacts: number[] = []
  /** By place: the numbers of what was ever said of the peer. */
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
    enter(said) {
      const place = placeOf(said.node_id)
      const ofPeer = numbers[place] ?? []
      // What was said last is what is said again.
      const known = ofPeer.findLast((number) => isSame(facts[number - 1], said))
      if (known !== undefined) return known
      if (ofPeer.length === 0) sorted = undefined
      facts.push(said)
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

/** Whether two agents would write down the same. */
export function isSame(one: PeerFacts | undefined, other: PeerFacts): boolean {
  return (
    one?.endpoint === other.endpoint &&
    one.psk_issued_at === other.psk_issued_at &&
    one.public_key === other.public_key &&
    one.mesh_address === other.mesh_address
  )
}

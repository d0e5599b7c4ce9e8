/** A peer of a book. */
export interface PlacedPeer {
  /** Its index in views, from 0. */
  readonly place: number
  /** The numbers of its facts, ascending. */
  readonly numbers: number[]
}

/** The peers of a book by node id, each with an index. The index of one that is removed becomes that of another. */
export interface PeerPlaces {
  find(nodeId: string): PlacedPeer | undefined
  at(place: number): PlacedPeer | undefined
  add(nodeId: string): PlacedPeer
  remove(nodeId: string): void
  /** The indexes ordered by node id. The same array until a peer is added or removed. */
  sorted(): readonly number[]
  /** Number of peers. */
  size(): number
  /** One more than the highest index. */
  places(): number
}

/** Makes it, without peers. */
export function createPeerPlaces(): PeerPlaces {
  const peers = new Map<string, PlacedPeer>()
  const byPlace: (PlacedPeer | undefined)[] = []
  const vacant: number[] = []
  let sorted: readonly number[] | undefined

  return {
    find: (nodeId) => peers.get(nodeId),
    at: (place) => byPlace[place],
    add(nodeId) {
      const peer = { place: vacant.pop() ?? byPlace.length, numbers: [] }
      peers.set(nodeId, peer)
      byPlace[peer.place] = peer
      sorted = undefined
      return peer
    },
    remove(nodeId) {
      const peer = peers.get(nodeId)
      if (peer === undefined) return
      peers.delete(nodeId)
      byPlace[peer.place] = undefined
      vacant.push(peer.place)
      sorted = undefined
    },
    sorted: () => (sorted ??= [...peers.entries()].toSorted(byNodeId).map(([, { place }]) => place)),
    size: () => peers.size,
    places: () => byPlace.length,
  }
}

function byNodeId([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1
}

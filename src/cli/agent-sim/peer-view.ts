import type { PeerBook, PeerFacts } from './peer-book.ts'

/** The peers that one agent knows, in four bytes each. */
export interface PeerView {
  find(nodeId: string): PeerFacts | undefined
  /** Undefined removes the peer. */
  set(nodeId: string, facts: PeerFacts | undefined): void
  /** Every peer, by node id. */
  all(): Iterable<PeerFacts>
}

/** Makes a view without peers. */
export function createPeerView(book: PeerBook): PeerView {
  /** By place: the number of the facts, 0 for a peer that is not known. */
  let numbers = new Uint32Array(book.size())

  function reach(place: number): void {
    if (place < numbers.length) return
    const longer = new Uint32Array(Math.max(place + 1, book.size()))
    longer.set(numbers)
    numbers = longer
  }

  const at = (place: number): PeerFacts | undefined => {
    const number = numbers[place] ?? 0
    return number === 0 ? undefined : book.read(number)
  }

  return {
    find: (nodeId) => at(book.placeOf(nodeId)),
    set(nodeId, facts) {
      const place = book.placeOf(nodeId)
      reach(place)
      numbers[place] = facts === undefined ? 0 : book.enter(facts)
    },
    *all() {
      for (const place of book.sorted()) {
        const facts = at(place)
        if (facts !== undefined) yield facts
      }
    },
  }
}

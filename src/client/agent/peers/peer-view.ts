import type { PeerBook, PeerFacts } from './peer-book.ts'

/** The peers that one agent knows: a fact number of the book per peer, four bytes each. */
export interface PeerView {
  find(nodeId: string): PeerFacts | undefined
  /** All of them, ordered by node id. */
  list(): readonly PeerFacts[]
  /** Undefined removes the peer. */
  set(nodeId: string, facts: PeerFacts | undefined): void
  /** The peers that differ from another view of the same book, in no particular order. */
  differing(other: PeerView): readonly PeerDifference[]
  /** Fact numbers by the peer's place in the book; 0 or missing for an unknown peer. */
  numbers(): Uint32Array
}

export interface PeerDifference {
  readonly own: PeerFacts | undefined
  readonly other: PeerFacts | undefined
}

/** Makes a view with these facts; empty by default. */
export function createPeerView(book: PeerBook, known: Iterable<number> = []): PeerView {
  let numbers = new Uint32Array(book.places())
  for (const number of known) numbers[book.placeOfFacts(number)] = number
  book.keep(numbers)
  book.free()

  function growTo(place: number): void {
    if (place < numbers.length) return
    const longer = new Uint32Array(Math.max(place + 1, book.places()))
    longer.set(numbers)
    numbers = longer
    book.keep(numbers)
  }

  const factsOf = (number = 0): PeerFacts | undefined => (number === 0 ? undefined : book.read(number))

  return {
    find: (nodeId) => factsOf(numbers[book.placeOf(nodeId) ?? -1]),
    list: () =>
      book.sorted().flatMap((place) => {
        const facts = factsOf(numbers[place])
        return facts === undefined ? [] : [facts]
      }),
    set(nodeId, facts) {
      const number = facts === undefined ? 0 : book.enter(facts)
      const place = book.placeOf(nodeId)
      if (place === undefined) return
      growTo(place)
      numbers[place] = number
      book.free()
    },
    differing(view) {
      const others = view.numbers()
      const found: PeerDifference[] = []
      for (let place = Math.max(numbers.length, others.length) - 1; place >= 0; place -= 1) {
        const [own = 0, other = 0] = [numbers[place], others[place]]
        if (own !== other) found.push({ own: factsOf(own), other: factsOf(other) })
      }
      return found
    },
    numbers: () => numbers,
  }
}

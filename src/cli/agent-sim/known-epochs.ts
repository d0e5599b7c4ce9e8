import { createHash } from 'node:crypto'
import type { EpochReport } from '../../shared/mesh/epoch-digest.ts'
import { createEpochLines } from '../../shared/mesh/epoch-lines.ts'
import type { PeerBook } from '../../client/agent/peers/peer-book.ts'
import type { PeerView } from '../../client/agent/peers/peer-view.ts'

/** Computes the digest of all edge epochs of an agent from its own half, `own`, and its peers. */
export type DigestKnown = (view: PeerView, own: string) => EpochReport

/**
 * Makes the digest function of agents that share a book. The digests of ten thousand agents have ten thousand lines each, of
 * which nearly all are equal. The lines are written once; each digest only updates those that differ from the previous one.
 */
export function createKnownEpochs(book: PeerBook): DigestKnown {
  let written = write(book)
  return (view, own) => {
    if (written.places !== book.sorted()) written = write(book)
    const { places, numbers, lines } = written
    const known = view.numbers()
    const unknown: number[] = []
    for (const [at, place] of places.entries()) {
      const number = known[place] ?? 0
      if (number === 0) unknown.push(at)
      else if (number !== numbers[at]) {
        lines.set(at, book.read(number).psk_issued_at)
        numbers[at] = number
      }
    }
    const { count, runs } = lines.of(own, unknown)
    const hash = createHash('sha256')
    for (const run of runs) hash.update(run)
    return { count, sha256: hash.digest('hex') }
  }
}

/** The lines of all peers of the book, ordered by id, with their newest facts, and the fact number of each line. */
function write(book: PeerBook) {
  const places = book.sorted()
  const numbers = Uint32Array.from(places, (place) => book.latest(place))
  const facts = Array.from(numbers, (number) => book.read(number))
  return {
    places,
    numbers,
    lines: createEpochLines(facts.map(({ node_id: id, psk_issued_at: issued }) => ({ id, issued }))),
  }
}

import { createHash } from 'node:crypto'
import type { EpochReport } from '../../shared/mesh/epoch-digest.ts'
import { createEpochLines } from '../../shared/mesh/epoch-lines.ts'
import type { PeerBook } from './peer-book.ts'
import type { PeerView } from './peer-view.ts'

/** Digests the epochs of all edges of an agent that has that half of them and knows those peers. */
export type DigestKnown = (view: PeerView, own: string) => EpochReport

/**
 * Makes the digests of agents that share a book. Ten thousand agents digest ten thousand lines each of which nearly all are
 * nearly the same: they are written once, and before each digest those are changed that the agent sees otherwise than the
 * one before it did.
 */
export function createKnownEpochs(book: PeerBook): DigestKnown {
  let written = write(book)
  return (view, own) => {
    if (written.places !== book.sorted()) written = write(book)
    const { places, numbers, lines } = written
    const known = view.numbers()
    const lacking: number[] = []
    for (const [at, place] of places.entries()) {
      const number = known[place] ?? 0
      if (number === 0) lacking.push(at)
      else if (number !== numbers[at]) {
        lines.set(at, book.read(number).psk_issued_at)
        numbers[at] = number
      }
    }
    const { count, runs } = lines.of(own, lacking)
    const hash = createHash('sha256')
    for (const run of runs) hash.update(run)
    return { count, sha256: hash.digest('hex') }
  }
}

/** The lines of all peers of the book, by id, as was last said of them; and of which facts each line is. */
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

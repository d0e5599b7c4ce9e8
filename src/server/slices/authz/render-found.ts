import type { Rendered } from '../../../shared/contract/operation-types.ts'
import type { Steps } from '../../../shared/steps.ts'

/** Items that are written at once: about 0.1 ms, 50 KB. */
const PIECE_ITEMS = 1_000

/** Writes the answer of a lookup in pieces: one text of 400,000 items would hold the event loop for 50 ms. */
export function* renderFound(items: readonly string[], correlationId: string): Steps<Rendered> {
  const pieces = [Buffer.from('{"items":[')]
  for (let from = 0; from < items.length; from += PIECE_ITEMS) {
    const text = JSON.stringify(items.slice(from, from + PIECE_ITEMS)).slice(1, -1)
    pieces.push(Buffer.from(from === 0 ? text : `,${text}`))
    yield
  }
  pieces.push(Buffer.from(`],"correlation_id":${JSON.stringify(correlationId)}}`))
  return { pieces: items.length <= PIECE_ITEMS ? [Buffer.concat(pieces)] : pieces }
}

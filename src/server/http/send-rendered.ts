import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Rendered } from '../../shared/contract/operation-types.ts'
import type { StreamHead } from './open-streams.ts'

/** How long a reader may read nothing of a pending answer, ms; then its connection is closed. */
const STALLED_MS = 30_000
/** Bytes that are encrypted ahead of a reader. */
const AHEAD_BYTES = 256 * 1024

/**
 * Sends the pieces of an answer without joining or copying them, so that several answers can share them. What
 * a slow reader has not read is kept by reference only, and only while it continues to read.
 */
export function sendRendered(
  { response, socket, status, headers }: StreamHead,
  { pieces }: Rendered,
  stalledMs = STALLED_MS,
): void {
  let length = 0
  for (const piece of pieces) length += piece.length
  response.writeHead(status, { ...headers, 'content-length': length })
  // Requests without a connection have no timeouts either.
  if (socket instanceof Socket) response.setTimeout(stalledMs)
  if ('encrypted' in socket) return sendAsTaken(response, slicesOf(pieces))
  response.cork()
  for (const piece of pieces.slice(0, -1)) response.write(piece)
  // The kernel has all bytes by then: a connection whose answer has ended counts as idle, and a shutdown closes idle ones at once.
  response.write(pieces.at(-1) ?? NOTHING, () => response.end())
  response.uncork()
}

const NOTHING = new Uint8Array()

/** TLS encrypts, and so copies, everything written at once. More is written only once the reader has read that. */
function sendAsTaken(response: ServerResponse, slices: Iterator<Uint8Array>): void {
  const next = slices.next()
  if (next.done === true) response.end()
  else response.write(next.value, () => sendAsTaken(response, slices))
}

function* slicesOf(pieces: readonly Uint8Array[]): Generator<Uint8Array> {
  for (const piece of pieces)
    for (let from = 0; from < piece.length; from += AHEAD_BYTES) yield piece.subarray(from, from + AHEAD_BYTES)
}

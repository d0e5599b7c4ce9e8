import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Rendered } from '../../shared/contract/operation.ts'
import type { StreamHead } from './open-streams.ts'

/** How long a reader may take nothing of an answer that waits for it, ms; then its connection is closed. */
const STALLED_MS = 30_000
/** Bytes that are encrypted ahead of a reader. */
const AHEAD_BYTES = 256 * 1024

/**
 * Sends the pieces of an answer as they are: they are neither joined nor copied, and others may be sent them meanwhile. What
 * a slow reader has not taken is kept by reference alone, and not for longer than it goes on reading.
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
  // The system has it all by then: a connection whose answer is over counts as idle, and a stop closes those at once.
  response.write(pieces.at(-1) ?? NOTHING, () => response.end())
  response.uncork()
}

const NOTHING = new Uint8Array()

/** TLS encrypts, and so copies, whatever it is given at once: it is given more only once its reader has taken that. */
function sendAsTaken(response: ServerResponse, slices: Iterator<Uint8Array>): void {
  const next = slices.next()
  if (next.done === true) response.end()
  else response.write(next.value, () => sendAsTaken(response, slices))
}

function* slicesOf(pieces: readonly Uint8Array[]): Generator<Uint8Array> {
  for (const piece of pieces)
    for (let from = 0; from < piece.length; from += AHEAD_BYTES) yield piece.subarray(from, from + AHEAD_BYTES)
}

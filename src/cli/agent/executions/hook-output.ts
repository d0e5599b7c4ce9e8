import type { Readable } from 'node:stream'
import { cutText, OUTPUT_BYTES_MAX } from './callback-text.ts'

/** Pause after each chunk that is thrown away, so that a program that prints without end does not keep the agent busy. */
const DISCARD_PAUSE_MS = 5

/** The beginning of what a program prints. */
export interface CollectedOutput {
  /** Reads to the end, and forgets what is over the bound. */
  collect(stream: Readable): void
  /** At most 8,192 bytes of valid UTF-8. */
  text(): string
}

/** Collects the output of one program, from several streams in the order of arrival. */
export function collectOutput(): CollectedOutput {
  const kept: Buffer[] = []
  let bytes = 0
  return {
    collect(stream) {
      stream.on('data', (chunk: Buffer) => {
        const fitting = chunk.subarray(0, OUTPUT_BYTES_MAX - bytes)
        if (fitting.length > 0) kept.push(fitting)
        bytes += fitting.length
        if (fitting.length > 0) return
        stream.pause()
        setTimeout(() => stream.resume(), DISCARD_PAUSE_MS)
      })
      // A stream that ends early has given what it had.
      stream.on('error', () => undefined)
    },
    text: () => validText(Buffer.concat(kept)),
  }
}

/** Replaces what is not UTF-8, and U+0000, which the server does not take. */
function validText(bytes: Buffer): string {
  return cutText(bytes.toString('utf8').replaceAll('\u0000', '\uFFFD'), OUTPUT_BYTES_MAX)
}

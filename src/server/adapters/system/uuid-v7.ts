import { randomFillSync } from 'node:crypto'
import type { Clock, IdSource } from '../../ports/clock.ts'

/** The 12 bits after the version, used as a counter (RFC 9562 §6.2, method 1). */
const COUNTER_MAX = 0xfff
/** Each millisecond starts its counter in the lower half, so that at least 2,048 ids fit. */
const COUNTER_SEED_MAX = 0x7ff
const POOL_BYTES = 4096
const BYTES_PER_ID = 10

/**
 * UUIDv7 ids, strictly increasing: within a millisecond by the counter, and when the counter is full or the clock
 * steps back by running ahead of the clock.
 */
export function createUuidV7(clock: Clock): IdSource {
  const pool = Buffer.alloc(POOL_BYTES)
  let at = POOL_BYTES
  let ms = 0
  let counter = 0

  /** Ten fresh bytes; drawn in bulk, since each draw is a call into the kernel. */
  function random(): Buffer {
    if (at + BYTES_PER_ID > POOL_BYTES) {
      randomFillSync(pool)
      at = 0
    }
    at += BYTES_PER_ID
    return pool.subarray(at - BYTES_PER_ID, at)
  }

  function advance(seed: number): void {
    const now = clock.now()
    if (now > ms) ms = now
    else if (counter < COUNTER_MAX) {
      counter += 1
      return
    } else ms += 1
    counter = seed & COUNTER_SEED_MAX
  }

  return {
    next() {
      const bytes = random()
      advance(bytes.readUInt16BE(8))
      const time = ms.toString(16).padStart(12, '0')
      const variant = (0x8000 | (bytes.readUInt16BE(0) & 0x3fff)).toString(16)
      const version = (0x7000 | counter).toString(16)
      return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${variant}-${bytes.toString('hex', 2, 8)}`
    },
  }
}

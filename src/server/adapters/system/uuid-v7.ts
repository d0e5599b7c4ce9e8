import { randomFillSync } from 'node:crypto'
import type { Clock, IdSource } from '../../ports/clock.ts'

/** The 12 bits after the version, used as a counter (RFC 9562 §6.2, method 1). */
const COUNTER_MAX = 0xfff
/** Each millisecond starts its counter in the lower half, so that at least 2,048 ids fit. */
const COUNTER_SEED_MAX = 0x7ff
const POOL_BYTES = 4096
const BYTES_PER_ID = 10

/** The two hex digits of each byte. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/**
 * UUIDv7 ids, strictly increasing: within a millisecond by the counter, and when the counter is full or the clock
 * steps back by running ahead of the clock.
 */
export function createUuidV7(clock: Clock): IdSource {
  /** Random bytes, drawn in bulk, since each draw is a call into the kernel. */
  const pool = new Uint8Array(POOL_BYTES)
  let at = POOL_BYTES
  let ms = 0
  let counter = 0
  /** The first 13 characters, which change once a millisecond. */
  let time = ''

  function byte(): number {
    return pool[at++] ?? 0
  }

  function hexByte(): string {
    return HEX[byte()] ?? ''
  }

  function enter(millisecond: number): void {
    ms = millisecond
    const hex = ms.toString(16).padStart(12, '0')
    time = `${hex.slice(0, 8)}-${hex.slice(8)}`
    counter = ((byte() << 8) | byte()) & COUNTER_SEED_MAX
  }

  return {
    next() {
      if (at + BYTES_PER_ID > POOL_BYTES) {
        randomFillSync(pool)
        at = 0
      }
      const now = clock.now()
      if (now > ms) enter(now)
      else if (counter === COUNTER_MAX) enter(ms + 1)
      else counter += 1
      const version = `7${HEX[counter >> 8]?.[1] ?? ''}${HEX[counter & 0xff] ?? ''}`
      const variant = HEX[0x80 | (byte() & 0x3f)] ?? ''
      const node = hexByte() + hexByte() + hexByte() + hexByte() + hexByte() + hexByte()
      return `${time}-${version}-${variant}${hexByte()}-${node}`
    },
  }
}

import { randomFillSync } from 'node:crypto'
import type { Clock, IdSource } from '../../ports/clock.ts'

/** The 12 bits after the version, used as a counter (RFC 9562 §6.2, method 1). */
const COUNTER_MAX = 0xfff
/** Each millisecond starts its counter in the lower half, so that at least 2,048 ids fit. */
const COUNTER_SEED_MAX = 0x7ff
const POOL_BYTES = 4096
const BYTES_PER_ID = 10

/** The characters of hex digits, in ASCII. */
const DIGITS = Buffer.from('0123456789abcdef', 'latin1')

/**
 * UUIDv7 ids, strictly increasing. Within a millisecond a counter increases. If the counter is full, or the clock steps
 * back, the ids run ahead of the clock.
 */
export function createUuidV7(clock: Clock): IdSource {
  /** Random bytes, drawn in bulk, since each draw is a call into the kernel. */
  const pool = new Uint8Array(POOL_BYTES)
  let at = POOL_BYTES
  let ms = 0
  let counter = 0
  /**
   * The characters of the last id. A joined string would cost each reader of the id more than writing the characters
   * here.
   */
  const text = Buffer.from('00000000-0000-7000-8000-000000000000', 'latin1')

  function byte(): number {
    return pool[at++] ?? 0
  }

  function write(place: number, digit: number): void {
    text[place] = DIGITS[digit & 0xf] ?? 0
  }

  function writeByte(place: number, value: number): void {
    write(place, value >> 4)
    write(place + 1, value)
  }

  function enter(millisecond: number): void {
    ms = millisecond
    const hex = ms.toString(16).padStart(12, '0')
    text.write(`${hex.slice(0, 8)}-${hex.slice(8)}`, 0, 'latin1')
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
      write(15, counter >> 8)
      writeByte(16, counter)
      writeByte(19, 0x80 | (byte() & 0x3f))
      writeByte(21, byte())
      for (let place = 24; place < 36; place += 2) writeByte(place, byte())
      return text.toString('latin1')
    },
  }
}

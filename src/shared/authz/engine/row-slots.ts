import { slotsFor } from './columns.ts'
import { Rows } from './rows.ts'

/** Tag of a slot without a row. */
export const EMPTY = 0

/** The tag of a hash, never `EMPTY`: its upper bits, since the lower ones choose the slot. */
export function tagOf(hash: number): number {
  return (hash >>> 24) | 1
}

/**
 * Rows that are found again by hash. Open addressing with linear probing, at most three quarters full; removal shifts
 * back, so that no tombstones pile up. Beside each slot is a byte of its row's hash: a lookup of an absent row, as
 * in most checks, reads a few neighbouring bytes and no row.
 */
export abstract class RowSlots extends Rows {
  protected tags = new Uint8Array(slotsFor(this.capacity))
  /** Meaningless where the tag is `EMPTY`. */
  protected slots = new Int32Array(this.tags.length)

  override get bytes(): number {
    return super.bytes + this.slots.byteLength + this.tags.byteLength
  }

  /** Hash of a row in use, of any 32 bits. */
  protected abstract hashOf(row: number): number

  /** Whether the row is in the slots. */
  protected abstract isPlaced(row: number): boolean

  protected place(row: number): void {
    const mask = this.slots.length - 1
    const hash = this.hashOf(row)
    let slot = hash & mask
    while (this.tags[slot] !== EMPTY) slot = (slot + 1) & mask
    this.slots[slot] = row
    this.tags[slot] = tagOf(hash)
  }

  /** Empties the row's slot and moves back the rows behind it that were pushed past their home. */
  protected displace(row: number): void {
    const mask = this.slots.length - 1
    let gap = this.hashOf(row) & mask
    while (this.slots[gap] !== row || this.tags[gap] === EMPTY) gap = (gap + 1) & mask
    for (let slot = (gap + 1) & mask; this.tags[slot] !== EMPTY; slot = (slot + 1) & mask) {
      const next = this.slots[slot] ?? 0
      const home = this.hashOf(next) & mask
      if (((slot - home) & mask) < ((slot - gap) & mask)) continue
      this.slots[gap] = next
      this.tags[gap] = this.tags[slot] ?? EMPTY
      gap = slot
    }
    this.tags[gap] = EMPTY
  }

  protected override adoptRows(rows: Int32Array): void {
    super.adoptRows(rows)
    this.#placeAll()
  }

  protected override grow(): void {
    super.grow()
    if (slotsFor(this.capacity) !== this.slots.length) this.#placeAll()
  }

  #placeAll(): void {
    const length = slotsFor(this.capacity)
    this.slots = new Int32Array(length)
    this.tags = new Uint8Array(length)
    for (let row = this.reserved; row < this.used; row++) if (this.isPlaced(row)) this.place(row)
  }
}

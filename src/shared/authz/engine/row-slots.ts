import { nextCapacity, slotsFor } from './columns.ts'

const FIRST_CAPACITY = 16

/**
 * Gives out row numbers and finds rows again by hash: the common half of the tables of the index. Open addressing with
 * linear probing, at most three quarters full; removal shifts back, so that no tombstones pile up. Numbers of removed
 * rows are used again.
 */
export abstract class RowSlots {
  /** Rows that fit before every column addressed by row must grow. */
  capacity = FIRST_CAPACITY
  /** Rows in use. */
  size = 0
  protected slots = new Int32Array(slotsFor(FIRST_CAPACITY)).fill(-1)
  #used: number
  readonly #removed: number[] = []

  /** `reserved` rows from 0 on are never given out. */
  constructor(reserved: number) {
    this.#used = reserved
  }

  /** Hash of a row in use, of any 32 bits. */
  protected abstract hashOf(row: number): number

  /** Whether the row is in the slots. */
  protected abstract isPlaced(row: number): boolean

  /** Grows the columns of the table to `capacity` rows. */
  protected abstract growColumns(capacity: number): void

  protected takeRow(): number {
    this.size++
    const row = this.#removed.pop()
    if (row !== undefined) return row
    if (this.#used === this.capacity) this.#grow()
    return this.#used++
  }

  protected releaseRow(row: number): void {
    this.size--
    this.#removed.push(row)
  }

  protected place(row: number): void {
    const mask = this.slots.length - 1
    let slot = this.hashOf(row) & mask
    while ((this.slots[slot] ?? -1) >= 0) slot = (slot + 1) & mask
    this.slots[slot] = row
  }

  /** Empties the row's slot and moves back the rows behind it that were pushed past their home. */
  protected displace(row: number): void {
    const mask = this.slots.length - 1
    let gap = this.hashOf(row) & mask
    while (this.slots[gap] !== row) gap = (gap + 1) & mask
    for (let slot = (gap + 1) & mask; ; slot = (slot + 1) & mask) {
      const next = this.slots[slot] ?? -1
      if (next < 0) break
      const home = this.hashOf(next) & mask
      if (((slot - home) & mask) < ((slot - gap) & mask)) continue
      this.slots[gap] = next
      gap = slot
    }
    this.slots[gap] = -1
  }

  #grow(): void {
    this.capacity = nextCapacity(this.capacity)
    this.growColumns(this.capacity)
    const length = slotsFor(this.capacity)
    if (length === this.slots.length) return
    this.slots = new Int32Array(length).fill(-1)
    for (let row = 0; row < this.#used; row++) if (this.isPlaced(row)) this.place(row)
  }
}

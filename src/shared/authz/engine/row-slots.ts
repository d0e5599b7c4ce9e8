import { grownColumn, nextCapacity, slotsFor } from './columns.ts'

const FIRST_CAPACITY = 16

/** What the fields of rows out of use hold. */
const BLANK = -1

/** Tag of a slot without a row. */
export const EMPTY = 0

/** The tag of a hash, never `EMPTY`: its upper bits, since the lower ones choose the slot. */
export function tagOf(hash: number): number {
  return (hash >>> 24) | 1
}

/**
 * Gives out row numbers and finds rows again by hash: the common half of the tables of the index. A row is a run of
 * integer fields, next to each other so that one step of a check touches one cache line. Open addressing with linear
 * probing, at most three quarters full; removal shifts back, so that no tombstones pile up. Numbers of removed rows are
 * used again. Beside each slot lies a byte of its row's hash: whoever seeks what is not there, as most checks do, reads a
 * few neighbouring bytes and no row.
 */
export abstract class RowSlots {
  /** Rows that fit before the table must grow. */
  capacity = FIRST_CAPACITY
  /** Rows in use. */
  size = 0
  /** Fields of a row. The first is -1 in rows out of use and never in others. */
  protected readonly fields: number
  protected rows: Int32Array
  protected tags = new Uint8Array(slotsFor(FIRST_CAPACITY))
  /** Meaningless where the tag is `EMPTY`. */
  protected slots = new Int32Array(this.tags.length)
  readonly #reserved: number
  #used: number
  readonly #removed: number[] = []

  /** `reserved` rows from 0 on are never given out. */
  constructor(fields: number, reserved: number) {
    this.fields = fields
    this.rows = new Int32Array(FIRST_CAPACITY * fields).fill(BLANK)
    this.#reserved = reserved
    this.#used = reserved
  }

  /** Memory that the table takes, without what it keeps of rows to be used again. */
  get bytes(): number {
    return this.rows.byteLength + this.slots.byteLength + this.tags.byteLength
  }

  cell(row: number, field: number): number {
    return this.rows[row * this.fields + field] ?? BLANK
  }

  setCell(row: number, field: number, value: number): void {
    this.rows[row * this.fields + field] = value
  }

  /** A copy of all rows, in use or not. */
  copyRows(): Int32Array {
    return this.rows.slice(0, this.#used * this.fields)
  }

  /** How many rows a copy holds. */
  rowsOf(copy: Int32Array): number {
    return copy.length / this.fields
  }

  /** Takes over what `copyRows` gave. The table must be new. */
  protected adoptRows(rows: Int32Array): void {
    this.#used = Math.max(this.#reserved, this.rowsOf(rows))
    this.#resize(nextCapacity(this.#used), rows)
    this.#placeAll()
    for (let row = this.#reserved; row < this.#used; row++) {
      if (this.cell(row, 0) === BLANK) this.#removed.push(row)
    }
    this.size = this.#used - this.#reserved - this.#removed.length
  }

  /** Hash of a row in use, of any 32 bits. */
  protected abstract hashOf(row: number): number

  /** Whether the row is in the slots. */
  protected abstract isPlaced(row: number): boolean

  /** A row whose fields are all -1. */
  protected takeRow(): number {
    this.size++
    const row = this.#removed.pop()
    if (row !== undefined) return row
    if (this.#used === this.capacity) this.#grow()
    return this.#used++
  }

  protected releaseRow(row: number): void {
    this.size--
    this.rows.fill(BLANK, row * this.fields, (row + 1) * this.fields)
    this.#removed.push(row)
  }

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

  #grow(): void {
    this.#resize(nextCapacity(this.capacity), this.rows)
    if (slotsFor(this.capacity) !== this.slots.length) this.#placeAll()
  }

  #resize(capacity: number, rows: Int32Array): void {
    this.capacity = capacity
    this.rows = grownColumn(rows, capacity * this.fields, BLANK)
  }

  #placeAll(): void {
    const length = slotsFor(this.capacity)
    this.slots = new Int32Array(length)
    this.tags = new Uint8Array(length)
    for (let row = this.#reserved; row < this.#used; row++) if (this.isPlaced(row)) this.place(row)
  }
}

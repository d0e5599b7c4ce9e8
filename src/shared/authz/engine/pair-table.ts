import { grownColumn } from './columns.ts'
import { EMPTY, RowSlots, tagOf } from './row-slots.ts'

/** Rows that are each known by a pair of integers, of which the first is at least 0. */
export class PairTable extends RowSlots {
  #a = new Int32Array(this.capacity).fill(-1)
  #b = new Int32Array(this.capacity)

  constructor() {
    super(0)
  }

  /** The row of the pair, or -1. */
  find(a: number, b: number): number {
    const { tags, slots } = this
    const mask = tags.length - 1
    const sought = hash(a, b)
    const tag = tagOf(sought)
    for (let slot = sought & mask; tags[slot] !== EMPTY; slot = (slot + 1) & mask) {
      if (tags[slot] !== tag) continue
      const row = slots[slot] ?? 0
      if (this.#a[row] === a && this.#b[row] === b) return row
    }
    return -1
  }

  /** Adds a pair that is not in the table yet. */
  insert(a: number, b: number): number {
    const row = this.takeRow()
    this.#a[row] = a
    this.#b[row] = b
    this.place(row)
    return row
  }

  remove(row: number): void {
    this.displace(row)
    this.#a[row] = -1
    this.releaseRow(row)
  }

  a(row: number): number {
    return this.#a[row] ?? -1
  }

  b(row: number): number {
    return this.#b[row] ?? -1
  }

  protected override hashOf(row: number): number {
    return hash(this.a(row), this.b(row))
  }

  protected override isPlaced(row: number): boolean {
    return this.a(row) >= 0
  }

  protected override growColumns(capacity: number): void {
    this.#a = grownColumn(this.#a, capacity, -1)
    this.#b = grownColumn(this.#b, capacity, 0)
  }
}

function hash(a: number, b: number): number {
  let mixed = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d)
  return mixed ^ (mixed >>> 13)
}

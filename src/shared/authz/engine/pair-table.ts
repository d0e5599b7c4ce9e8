import { EMPTY, RowSlots, tagOf } from './row-slots.ts'

const A = 0
const B = 1
const FIELDS = 2

/** Rows that are each known by a pair of integers, of which the first is at least 0. */
export class PairTable extends RowSlots {
  /** `extra` fields, from 2 on, are the caller's. */
  constructor(extra = 0) {
    super(FIELDS + extra, 0)
  }

  /** The row of the pair, or -1. */
  find(a: number, b: number): number {
    const { tags, slots, rows, fields } = this
    const mask = tags.length - 1
    const sought = hash(a, b)
    const tag = tagOf(sought)
    for (let slot = sought & mask; tags[slot] !== EMPTY; slot = (slot + 1) & mask) {
      if (tags[slot] !== tag) continue
      const row = slots[slot] ?? 0
      const at = row * fields
      if (rows[at] === a && rows[at + 1] === b) return row
    }
    return -1
  }

  /** Adds a pair that is not in the table yet. */
  insert(a: number, b: number): number {
    const row = this.takeRow()
    this.setCell(row, A, a)
    this.setCell(row, B, b)
    this.place(row)
    return row
  }

  remove(row: number): void {
    this.displace(row)
    this.releaseRow(row)
  }

  /** Takes over what `copyRows` gave. The table must be new. */
  adopt(rows: Int32Array): void {
    this.adoptRows(rows)
  }

  a(row: number): number {
    return this.cell(row, A)
  }

  b(row: number): number {
    return this.cell(row, B)
  }

  protected override hashOf(row: number): number {
    return hash(this.a(row), this.b(row))
  }

  protected override isPlaced(row: number): boolean {
    return this.a(row) >= 0
  }
}

function hash(a: number, b: number): number {
  const mixed = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b)
  const spread = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d)
  return spread ^ (spread >>> 13)
}

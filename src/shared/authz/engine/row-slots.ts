import type { ChangeLog, RecordedColumn } from './change-log.ts'
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

  #slotColumn: RecordedColumn | undefined
  #tagColumn: RecordedColumn | undefined

  override get bytes(): number {
    return super.bytes + this.slots.byteLength + this.tags.byteLength
  }

  /** Hash of a row in use, of any 32 bits. */
  protected abstract hashOf(row: number): number

  /** Whether the row is in the slots. */
  protected abstract isPlaced(row: number): boolean

  override recordIn(log: ChangeLog): void {
    super.recordIn(log)
    this.#slotColumn = log.column(() => this.slots)
    this.#tagColumn = log.column(() => this.tags)
  }

  protected place(row: number): void {
    const hash = this.hashOf(row)
    this.#setSlot(this.#freeSlot(hash), row, tagOf(hash))
  }

  #freeSlot(hash: number): number {
    const mask = this.slots.length - 1
    let slot = hash & mask
    while (this.tags[slot] !== EMPTY) slot = (slot + 1) & mask
    return slot
  }

  #setSlot(slot: number, row: number, tag: number): void {
    if (this.log?.isOpen === true) this.#noteSlot(slot, row, tag)
    this.slots[slot] = row
    this.tags[slot] = tag
  }

  #noteSlot(slot: number, row: number, tag: number): void {
    const rowBefore = this.slots[slot] ?? 0
    const tagBefore = this.tags[slot] ?? EMPTY
    if (rowBefore !== row) this.#slotColumn?.note(slot, rowBefore, row)
    if (tagBefore !== tag) this.#tagColumn?.note(slot, tagBefore, tag)
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
      this.#setSlot(gap, next, this.tags[slot] ?? EMPTY)
      gap = slot
    }
    this.#setSlot(gap, row, EMPTY)
  }

  protected override adoptRows(rows: Int32Array): void {
    super.adoptRows(rows)
    this.#placeAll()
  }

  protected override grow(): void {
    super.grow()
    if (slotsFor(this.capacity) !== this.slots.length) this.#placeAll()
  }

  /** Places every row in new slots. The old ones are part of every state before. */
  #placeAll(): void {
    const { slots, tags } = this
    const length = slotsFor(this.capacity)
    const placed = { slots: new Int32Array(length), tags: new Uint8Array(length) }
    this.#use(placed)
    for (let row = this.reserved; row < this.used; row++) {
      if (!this.isPlaced(row)) continue
      const hash = this.hashOf(row)
      const slot = this.#freeSlot(hash)
      this.slots[slot] = row
      this.tags[slot] = tagOf(hash)
    }
    if (this.log?.isOpen !== true) return
    this.log.noteOther(
      () => this.#use({ slots, tags }),
      () => this.#use(placed),
    )
  }

  #use({ slots, tags }: { readonly slots: Int32Array<ArrayBuffer>; readonly tags: Uint8Array<ArrayBuffer> }): void {
    this.slots = slots
    this.tags = tags
  }
}

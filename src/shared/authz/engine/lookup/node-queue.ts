import { grownColumn } from '../columns.ts'

const FIRST_CAPACITY = 1_024

/** Entries for which room is kept between walks. */
const KEPT_ENTRIES_MAX = 1 << 20

/** Numbers, first in first out. Kept between walks, as `WalkNodes` are. */
export class NodeQueue {
  #entries = new Int32Array(FIRST_CAPACITY)
  #end = 0
  #next = 0

  get isEmpty(): boolean {
    return this.#next === this.#end
  }

  clear(): void {
    this.#end = 0
    this.#next = 0
    if (this.#entries.length > KEPT_ENTRIES_MAX) this.#entries = new Int32Array(FIRST_CAPACITY)
  }

  push(entry: number): void {
    if (this.#end === this.#entries.length) this.#entries = grownColumn(this.#entries, this.#end * 2, 0)
    this.#entries[this.#end++] = entry
  }

  /** Takes the first entry; asked only while there is one. */
  shift(): number {
    return this.#entries[this.#next++] ?? 0
  }
}

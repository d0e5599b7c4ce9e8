import { grownColumn } from './columns.ts'

/** End of a chain. */
export const NONE = -1

/** Doubly linked lists through the edges. Their heads are columns of the owners: one edge is in one list of each `EdgeChains`. */
export class EdgeChains {
  #next = new Int32Array(0)
  #previous = new Int32Array(0)

  next(edge: number): number {
    return this.#next[edge] ?? NONE
  }

  /** Puts the edge at the front of the owner's list. */
  push(heads: Int32Array, owner: number, edge: number): void {
    const first = heads[owner] ?? NONE
    this.#next[edge] = first
    this.#previous[edge] = NONE
    if (first !== NONE) this.#previous[first] = edge
    heads[owner] = edge
  }

  /** Takes the edge out of the owner's list. */
  drop(heads: Int32Array, owner: number, edge: number): void {
    const next = this.next(edge)
    const previous = this.#previous[edge] ?? NONE
    if (next !== NONE) this.#previous[next] = previous
    if (previous === NONE) heads[owner] = next
    else this.#next[previous] = next
  }

  grow(capacity: number): void {
    if (capacity <= this.#next.length) return
    this.#next = grownColumn(this.#next, capacity, NONE)
    this.#previous = grownColumn(this.#previous, capacity, NONE)
  }
}

import type { PairTable } from './pair-table.ts'
import type { Rows } from './rows.ts'

/** End of a chain. */
export const NONE = -1

/** The heads of lists: a field of the rows that own them. */
export interface Heads {
  readonly owners: Rows
  readonly field: number
}

/** Lists of edges, as a caller that walks them sees them. */
export interface Chain {
  /** The edge after this one in its list, or NONE. */
  next(edge: number): number
}

/** Doubly linked lists through the edges. An edge is in one list of each `EdgeChains`, and holds its links in two fields. */
export class EdgeChains implements Chain {
  readonly #edges: PairTable
  readonly #next: number
  readonly #previous: number

  /** The links are in `field` and the one after it. */
  constructor(edges: PairTable, field: number) {
    this.#edges = edges
    this.#next = field
    this.#previous = field + 1
  }

  next(edge: number): number {
    return this.#edges.cell(edge, this.#next)
  }

  /** Puts the edge at the front of the owner's list. */
  push({ owners, field }: Heads, owner: number, edge: number): void {
    const first = owners.cell(owner, field)
    this.#edges.setCell(edge, this.#next, first)
    this.#edges.setCell(edge, this.#previous, NONE)
    if (first !== NONE) this.#edges.setCell(first, this.#previous, edge)
    owners.setCell(owner, field, edge)
  }

  /** Takes the edge out of the owner's list. */
  drop({ owners, field }: Heads, owner: number, edge: number): void {
    const next = this.next(edge)
    const previous = this.#edges.cell(edge, this.#previous)
    if (next !== NONE) this.#edges.setCell(next, this.#previous, previous)
    if (previous === NONE) owners.setCell(owner, field, next)
    else this.#edges.setCell(previous, this.#next, next)
  }
}

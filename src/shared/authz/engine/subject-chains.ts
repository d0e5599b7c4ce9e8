import { NONE, type Chain, type Heads } from './edge-chains.ts'
import type { PairTable } from './pair-table.ts'

/**
 * The lists of the edges that each subject is in, linked through two fields of the edges. Edges that *nest*, that is
 * edges of sets that may be subjects in turn (`group#member`), come before all others, and a link encodes the kind of the
 * next edge: the few sets that a subject is in are found without reading all its grants.
 * The first edge of a list leads back to the last one.
 */
export class SubjectChains implements Chain {
  readonly #edges: PairTable
  readonly #next: number
  readonly #previous: number

  /** The links are in `field` and the one after it. */
  constructor(edges: PairTable, field: number) {
    this.#edges = edges
    this.#next = field
    this.#previous = field + 1
  }

  first({ owners, field }: Heads, owner: number): number {
    return edgeAt(owners.cell(owner, field))
  }

  next(edge: number): number {
    return edgeAt(this.#edges.cell(edge, this.#next))
  }

  /** The first edge of the owner that nests; go on with `nextNesting`. */
  firstNesting({ owners, field }: Heads, owner: number): number {
    return nestingAt(owners.cell(owner, field))
  }

  nextNesting(edge: number): number {
    return nestingAt(this.#edges.cell(edge, this.#next))
  }

  /** Adds an edge that nests. */
  pushNesting({ owners, field }: Heads, owner: number, edge: number): void {
    const link = owners.cell(owner, field)
    const first = edgeAt(link)
    const last = first === NONE ? edge : this.#edges.cell(first, this.#previous)
    this.#edges.setCell(edge, this.#next, link)
    this.#edges.setCell(edge, this.#previous, last)
    if (first !== NONE) this.#edges.setCell(first, this.#previous, edge)
    owners.setCell(owner, field, edge)
  }

  /** Adds an edge that does not nest. */
  push({ owners, field }: Heads, owner: number, edge: number): void {
    const first = edgeAt(owners.cell(owner, field))
    const last = first === NONE ? edge : this.#edges.cell(first, this.#previous)
    this.#edges.setCell(edge, this.#next, NONE)
    this.#edges.setCell(edge, this.#previous, last)
    if (first === NONE) return owners.setCell(owner, field, otherLink(edge))
    this.#edges.setCell(last, this.#next, otherLink(edge))
    this.#edges.setCell(first, this.#previous, edge)
  }

  /** Takes the edge out of the owner's list. */
  drop({ owners, field }: Heads, owner: number, edge: number): void {
    const link = this.#edges.cell(edge, this.#next)
    const next = edgeAt(link)
    const previous = this.#edges.cell(edge, this.#previous)
    const first = edgeAt(owners.cell(owner, field))
    if (edge === first) owners.setCell(owner, field, link)
    else this.#edges.setCell(previous, this.#next, link)
    if (next !== NONE) this.#edges.setCell(next, this.#previous, previous)
    else if (edge !== first) this.#edges.setCell(first, this.#previous, previous)
  }
}

/** A link to an edge that does not nest: the numbers below `NONE`. */
function otherLink(edge: number): number {
  return -2 - edge
}

function edgeAt(link: number): number {
  return link >= NONE ? link : -2 - link
}

function nestingAt(link: number): number {
  return link >= 0 ? link : NONE
}

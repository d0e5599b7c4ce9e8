import type { TypeModel } from '../model.ts'
import { grownColumn } from './columns.ts'
import { NONE, type Chain } from './edge-chains.ts'
import type { EdgeConditions } from './edge-conditions.ts'
import type { ObjectTable } from './object-table.ts'
import type { SetTable } from './set-table.ts'

/** Not computed, or outdated. Above every revision. */
const STALE = 0xffffffff

/** Revisions are kept in 32 bits; whatever comes after four thousand million of them counts as one. */
export const REVISION_MAX = STALE - 1

/** What is read of the index that the revisions belong to. */
interface Edges {
  readonly objects: ObjectTable
  readonly sets: SetTable
  readonly bySet: Chain
  readonly bySubject: Chain
  readonly conditions: EdgeConditions
  isSubjectKind(member: number): boolean
  firstObjectSubject(set: number): number
  firstSetSubject(set: number): number
  firstEdgeOfSet(set: number): number
  firstEdgeOfObject(object: number): number
}

/**
 * The revision that created each object: the lowest one among the tuples that have it as their resource or, where there are
 * none, as their subject. Computed on demand, and cached while no change can have lowered or raised it.
 */
export class ObjectRevisions {
  readonly #index: Edges
  readonly #types: readonly TypeModel[]
  /** By object; empty until the first is asked for. */
  #known = new Uint32Array(0)

  constructor(index: Edges, types: readonly TypeModel[]) {
    this.#index = index
    this.#types = types
  }

  /** 0 for an object without tuples. */
  first(object: number): number {
    const { capacity } = this.#index.objects
    if (this.#known.length < capacity) this.#known = grownColumn(this.#known, capacity, STALE)
    const known = this.#known[object] ?? STALE
    if (known !== STALE) return known
    const found = this.#find(object)
    this.#known[object] = found
    return found
  }

  /** Records that tuples of the object changed, none of them of a lower revision than `revision`. */
  changed(object: number, revision: number): void {
    const known = this.#known[object]
    if (known !== undefined && revision <= known) this.#known[object] = STALE
  }

  /** Discards the revision of the object. */
  forget(object: number): void {
    if (object < this.#known.length) this.#known[object] = STALE
  }

  #find(object: number): number {
    const type = this.#types[this.#index.objects.typeOf(object)]
    if (type === undefined) return 0
    const asResource = this.#asResource(object, type)
    const found = asResource === STALE ? this.#asSubject(object, type) : asResource
    return found === STALE ? 0 : found
  }

  #asResource(object: number, { relations }: TypeModel): number {
    const { bySet, sets } = this.#index
    let lowest = STALE
    for (const { id } of relations) {
      const set = sets.find(object, id)
      if (set === NONE) continue
      lowest = Math.min(lowest, this.#lowest(this.#index.firstObjectSubject(set), bySet))
      lowest = Math.min(lowest, this.#lowest(this.#index.firstSetSubject(set), bySet))
    }
    return lowest
  }

  #asSubject(object: number, { relations, permissions }: TypeModel): number {
    const { bySubject, sets } = this.#index
    let lowest = this.#lowest(this.#index.firstEdgeOfObject(object), bySubject)
    for (const { id } of [...relations, ...permissions]) {
      const set = this.#index.isSubjectKind(id) ? sets.find(object, id) : NONE
      if (set !== NONE) lowest = Math.min(lowest, this.#lowest(this.#index.firstEdgeOfSet(set), bySubject))
    }
    return lowest
  }

  #lowest(first: number, chain: Chain): number {
    let lowest = STALE
    for (let edge = first; edge !== NONE; edge = chain.next(edge)) {
      lowest = Math.min(lowest, this.#index.conditions.firstRevision(edge))
    }
    return lowest
  }
}

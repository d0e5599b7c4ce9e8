import type { TypeModel } from '../model.ts'
import type { ChangeLog, RecordedColumn } from './change-log.ts'
import { grownColumn } from './columns.ts'
import { NONE, type Chain } from './edge-chains.ts'
import type { EdgeConditions } from './edge-conditions.ts'
import type { ObjectTable } from './object-table.ts'
import type { SetTable } from './set-table.ts'
import { Pace, whole, type Steps } from '../../steps.ts'

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

interface EdgeList {
  readonly first: number
  readonly chain: Chain
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
  readonly #pace = new Pace()
  #log: ChangeLog | undefined
  #column: RecordedColumn | undefined

  constructor(index: Edges, types: readonly TypeModel[]) {
    this.#index = index
    this.#types = types
  }

  /**
   * Records in the log, from now on, what becomes outdated. What is computed is not recorded: where no change between two
   * states concerns an object, its revision is that of both.
   */
  recordIn(log: ChangeLog): void {
    this.#log = log
    this.#column = log.column(() => this.#known)
  }

  /** Makes room for every object, so that changes of each are recorded. */
  cover(): void {
    const { capacity } = this.#index.objects
    if (this.#known.length < capacity) this.#known = grownColumn(this.#known, capacity, STALE)
  }

  /** 0 for an object without tuples. */
  first(object: number): number {
    return this.known(object) ?? whole(this.find(object))
  }

  /** The revision where it was computed before. */
  known(object: number): number | undefined {
    const known = this.#known[object] ?? STALE
    return known === STALE ? undefined : known
  }

  /** Computes it. */
  *find(object: number): Steps<number> {
    this.cover()
    const found = yield* this.#find(object)
    this.#known[object] = found
    return found
  }

  /** Records that tuples of the object changed, none of them of a lower revision than `revision`. */
  changed(object: number, revision: number): void {
    const known = this.#known[object]
    if (known !== undefined && revision <= known) this.#outdate(object, known)
  }

  /** Discards the revision of the object. */
  forget(object: number): void {
    const known = this.#known[object]
    if (known !== undefined) this.#outdate(object, known)
  }

  #outdate(object: number, known: number): void {
    if (this.#log?.isOpen === true) this.#column?.note(object, known, STALE)
    this.#known[object] = STALE
  }

  *#find(object: number): Steps<number> {
    const type = this.#types[this.#index.objects.typeOf(object)]
    if (type === undefined) return 0
    const asResource = yield* this.#lowest(this.#listsOfResource(object, type))
    const found = asResource === STALE ? yield* this.#lowest(this.#listsOfSubject(object, type)) : asResource
    return found === STALE ? 0 : found
  }

  #listsOfResource(object: number, { relations }: TypeModel): EdgeList[] {
    const { bySet, sets } = this.#index
    const lists: EdgeList[] = []
    for (const { id } of relations) {
      const set = sets.find(object, id)
      if (set === NONE) continue
      lists.push({ first: this.#index.firstObjectSubject(set), chain: bySet })
      lists.push({ first: this.#index.firstSetSubject(set), chain: bySet })
    }
    return lists
  }

  #listsOfSubject(object: number, { relations, permissions }: TypeModel): EdgeList[] {
    const { bySubject, sets } = this.#index
    const lists: EdgeList[] = [{ first: this.#index.firstEdgeOfObject(object), chain: bySubject }]
    for (const { id } of [...relations, ...permissions]) {
      const set = this.#index.isSubjectKind(id) ? sets.find(object, id) : NONE
      if (set !== NONE) lists.push({ first: this.#index.firstEdgeOfSet(set), chain: bySubject })
    }
    return lists
  }

  *#lowest(lists: readonly EdgeList[]): Steps<number> {
    let lowest = STALE
    for (const { first, chain } of lists) {
      for (let edge = first; edge !== NONE; edge = chain.next(edge)) {
        lowest = Math.min(lowest, this.#index.conditions.firstRevision(edge))
        if (this.#pace.isDue()) yield
      }
    }
    return lowest
  }
}

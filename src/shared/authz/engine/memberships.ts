import { NONE } from './edge-chains.ts'
import type { TupleIndex } from './tuple-index.ts'

/** Whether a subject is in a set, in rising order. */
export type Standing = number

/** Not in it, whatever any condition says. */
export const OUTSIDE = 0
/** In it if conditions hold. */
export const PERHAPS = 1
/** In it by tuples without conditions. */
export const INSIDE = 2

/** Edges that are followed before a subject counts as one of too many sets: then its sets are not known. */
const EDGES_MAX = 64
/** At most half full: a followed edge adds one set at most, and the walk may start from one. */
const SLOTS = 256

/** Where a walk starts. Any of them may be NONE. */
interface Start {
  readonly subject: number
  readonly wildcard: number
  /** The set that asks, in place of an object. */
  readonly set: number
}

/**
 * The sets that a subject is in, found from below: through groups in groups, which are few from there and may be many from
 * above. Holds for sets of plain relations. Kept between checks, so that a check allocates nothing.
 */
export class Memberships {
  readonly #index: TupleIndex
  readonly #sets = new Int32Array(SLOTS)
  readonly #standings = new Uint8Array(SLOTS)
  /** Walk that wrote the slot; slots of earlier walks are empty. */
  readonly #epochs = new Int32Array(SLOTS)
  #epoch = 0
  #followed = 0

  constructor(index: TupleIndex) {
    this.#index = index
  }

  /** Finds them again; false when there are too many. */
  find({ subject, wildcard, set }: Start): boolean {
    this.#clear()
    this.#followed = 0
    if (subject !== NONE) this.#follow(this.#index.firstNestingOfObject(subject), INSIDE)
    if (wildcard !== NONE) this.#follow(this.#index.firstNestingOfObject(wildcard), INSIDE)
    if (set !== NONE) this.#reach(set, INSIDE)
    return this.#followed <= EDGES_MAX
  }

  /** Of the sets last found. */
  standingIn(set: number): Standing {
    const slot = this.#slotOf(set)
    return this.#epochs[slot] === this.#epoch ? (this.#standings[slot] ?? OUTSIDE) : OUTSIDE
  }

  #clear(): void {
    this.#epoch++
    if (this.#epoch < 0x7fffffff) return
    this.#epochs.fill(0)
    this.#epoch = 1
  }

  #slotOf(set: number): number {
    let slot = (Math.imul(set, 0x9e3779b1) >>> 16) & (SLOTS - 1)
    while (this.#epochs[slot] === this.#epoch && this.#sets[slot] !== set) slot = (slot + 1) & (SLOTS - 1)
    return slot
  }

  #follow(first: number, standing: Standing): void {
    const { edges, bySubject, conditions } = this.#index
    for (let edge = first; edge !== NONE; edge = bySubject.nextNesting(edge)) {
      if (++this.#followed > EDGES_MAX) return
      const alternatives = conditions.of(edge)
      const isBound = alternatives !== undefined && !alternatives.unconditional
      this.#reach(edges.a(edge), isBound ? PERHAPS : standing)
    }
  }

  /** A set is followed at most twice: as what the subject may be in, and once it is in it for sure. */
  #reach(set: number, standing: Standing): void {
    const slot = this.#slotOf(set)
    if (this.#epochs[slot] === this.#epoch && (this.#standings[slot] ?? OUTSIDE) >= standing) return
    this.#epochs[slot] = this.#epoch
    this.#sets[slot] = set
    this.#standings[slot] = standing
    this.#follow(this.#index.firstNestingOfSet(set), standing)
  }
}

import { NONE } from './edge-chains.ts'
import type { TupleIndex } from './tuple-index.ts'

/** Whether a subject is in a set, in increasing certainty. */
export type Membership = number

/** Not in it, whatever the conditions evaluate to. */
export const OUTSIDE = 0
/** In it if the conditions hold. */
export const PERHAPS = 1
/** In it by tuples without conditions. */
export const INSIDE = 2

/** Maximum of followed edges. A subject with more counts as unknown. */
const EDGES_MAX = 64
/** At most half full: a followed edge adds one set at most, and the walk may start from one. */
const SLOTS = 256

/** Where a walk starts. Any of them may be NONE. */
interface Start {
  readonly subject: number
  readonly wildcard: number
  /** The set that is the subject, instead of an object. */
  readonly set: number
}

/**
 * Finds the sets that a subject is in, from the subject upward: a subject is in few groups, and a group may have many
 * members. Only for sets of plain relations. Reused between checks, so that a check allocates nothing.
 */
export class Memberships {
  readonly #index: TupleIndex
  readonly #sets = new Int32Array(SLOTS)
  readonly #found = new Uint8Array(SLOTS)
  /** Walk that wrote the slot; slots of earlier walks are empty. */
  readonly #epochs = new Int32Array(SLOTS)
  #epoch = 0
  #followed = 0

  constructor(index: TupleIndex) {
    this.#index = index
  }

  /** Searches the sets of a subject; false when there are too many. */
  find({ subject, wildcard, set }: Start): boolean {
    this.#clear()
    this.#followed = 0
    if (subject !== NONE) this.#follow(this.#index.firstNestingOfObject(subject), INSIDE)
    if (wildcard !== NONE) this.#follow(this.#index.firstNestingOfObject(wildcard), INSIDE)
    if (set !== NONE) this.#reach(set, INSIDE)
    return this.#followed <= EDGES_MAX
  }

  /** The membership in one of the sets of the last search. */
  membershipIn(set: number): Membership {
    const slot = this.#slotOf(set)
    return this.#epochs[slot] === this.#epoch ? (this.#found[slot] ?? OUTSIDE) : OUTSIDE
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

  #follow(first: number, membership: Membership): void {
    const { edges, bySubject, conditions } = this.#index
    for (let edge = first; edge !== NONE; edge = bySubject.nextNesting(edge)) {
      if (++this.#followed > EDGES_MAX) return
      const alternatives = conditions.of(edge)
      const isBound = alternatives !== undefined && !alternatives.unconditional
      this.#reach(edges.a(edge), isBound ? PERHAPS : membership)
    }
  }

  /** A set is followed at most twice: when the subject may be in it, and when it certainly is. */
  #reach(set: number, membership: Membership): void {
    const slot = this.#slotOf(set)
    if (this.#epochs[slot] === this.#epoch && (this.#found[slot] ?? OUTSIDE) >= membership) return
    this.#epochs[slot] = this.#epoch
    this.#sets[slot] = set
    this.#found[slot] = membership
    this.#follow(this.#index.firstNestingOfSet(set), membership)
  }
}

import type { Askable } from '../model.ts'
import { NONE } from './edge-chains.ts'
import { Memberships, PERHAPS, type Membership } from './memberships.ts'
import type { ConditionVerdict, Question } from './question.ts'
import type { TupleIndex } from './tuple-index.ts'
import { NO, UNKNOWN, YES, type Verdict } from './verdict.ts'

/** The subject of a check, or a set of it, and the tuples that reach it. Reused between checks. */
export class Asker {
  readonly #index: TupleIndex
  readonly #memberships: Memberships
  #holds: ConditionVerdict = () => UNKNOWN
  /** The subject that `self` means; NONE for a set. */
  #subject = NONE
  /** The subject as edges code it. */
  #subjectCode = 0
  #wildcard = NONE
  /** The asking set, if the asker is one: reaching it means reaching the asker. */
  #object = NONE
  #member = NONE
  #sets: 'unsought' | 'known' | 'too many' = 'unsought'

  constructor(index: TupleIndex) {
    this.#index = index
    this.#memberships = new Memberships(index)
  }

  start({ subject, subjectType, userset }: Question, holds: ConditionVerdict): void {
    this.#holds = holds
    this.#sets = 'unsought'
    if (userset !== undefined) return this.#startSet(subject, userset)
    this.#object = NONE
    this.#member = NONE
    this.#subject = subject
    this.#subjectCode = subject << 1
    this.#wildcard = this.#index.wildcard(subjectType)
  }

  /** A set is found where an edge leads to it, never through the wildcard, which represents objects. */
  #startSet(object: number, member: Askable): void {
    this.#object = object
    this.#member = member.id
    this.#subject = NONE
    this.#subjectCode = NONE << 1
    this.#wildcard = NONE
  }

  /** Whether the set is the one that asks. */
  isSet(object: number, member: Askable): boolean {
    return member.id === this.#member && object === this.#object
  }

  /** Whether the object is the one that asks. */
  isObject(object: number): boolean {
    return object === this.#subject
  }

  /** Whether the asker, or everyone of its type, is in the set by a tuple of its own. */
  directly(set: number): Verdict {
    if (this.#index.firstObjectSubject(set) === NONE) return NO
    const own = this.#index.edges.find(set, this.#subjectCode)
    const verdict = own === NONE ? NO : this.held(own)
    if (verdict === YES || this.#wildcard === NONE) return verdict
    const all = this.#index.edges.find(set, this.#wildcard << 1)
    return all === NONE ? verdict : Math.max(verdict, this.held(all))
  }

  /** The verdict of the edge's tuples. */
  held(edge: number): Verdict {
    const alternatives = this.#index.conditions.of(edge)
    if (alternatives === undefined || alternatives.unconditional) return YES
    let verdict: Verdict = NO
    for (const condition of alternatives.conditions) verdict = Math.max(verdict, this.#holds(condition))
    return verdict
  }

  /** The asker's known membership in a set that may be a subject. The set's relation must be plain. */
  membershipIn(set: number): Membership {
    if (this.#sets === 'unsought') this.#sets = this.#findSets() ? 'known' : 'too many'
    return this.#sets === 'known' ? this.#memberships.membershipIn(set) : PERHAPS
  }

  #findSets(): boolean {
    const set = this.#object === NONE ? NONE : this.#index.sets.find(this.#object, this.#member)
    return this.#memberships.find({ subject: this.#subject, wildcard: this.#wildcard, set })
  }
}

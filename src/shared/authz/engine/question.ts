import type { Askable, TypeModel } from '../model.ts'
import type { Condition } from './edge-conditions.ts'
import type { Verdict } from './verdict.ts'

/** Tells how far a tuple counts: NO once it has expired, else as its caveat does, YES, VIOLATED or UNKNOWN. */
export type ConditionVerdict = (condition: Condition) => Verdict

/** A question in the index's terms. */
export interface Question {
  readonly subjectType: TypeModel
  /** Object number; NONE without tuples, but `NO_OBJECT` when it is the resource itself. */
  readonly subject: number
  readonly asked: Askable
  /** Object number; `NO_OBJECT` without tuples. */
  readonly resource: number
  /** Where the asker is not the subject itself but a set of it, `group:x#member`: the relation or permission of the set. */
  readonly userset?: Askable | undefined
}

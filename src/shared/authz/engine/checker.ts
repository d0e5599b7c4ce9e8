import { BoundedEvaluation } from './bounded-evaluation.ts'
import { Evaluation } from './evaluation.ts'
import type { ConditionVerdict, Question } from './question.ts'
import type { TupleIndex } from './tuple-index.ts'
import { SelfExclusionError } from './undecidable.ts'
import { UNKNOWN, type Verdict } from './verdict.ts'

/**
 * Answers checks from a tuple index: synchronous, without caches that outlive a check, and nearly without allocation.
 * Where an exclusion depends on itself there is no least fixpoint; then the check is evaluated once as if that excluded
 * all and once as if it excluded nothing; the answer counts if both agree.
 */
export class Checker {
  readonly #exact: Evaluation
  readonly #bounded: BoundedEvaluation
  /** The evaluation that found the last answer. */
  #last: Evaluation

  constructor(index: TupleIndex) {
    this.#exact = new Evaluation(index)
    this.#bounded = new BoundedEvaluation(index)
    this.#last = this.#exact
  }

  /** @throws UndecidableError */
  check(question: Question, holds: ConditionVerdict, wantPath: boolean): Verdict {
    this.#last = this.#exact
    try {
      return this.#exact.find(question, holds, wantPath)
    } catch (error) {
      if (!(error instanceof SelfExclusionError)) throw error
      this.#last = this.#bounded
      const { least, most } = this.#bounded.bounds(question, holds, wantPath)
      if (least !== most && most >= UNKNOWN) throw error
      return least
    }
  }

  /** Names along the grant that the last check found. */
  path(): string[] {
    return this.#last.path()
  }
}

import type { Expression } from '../model.ts'
import { UNASKED } from './check-memo.ts'
import { Evaluation, NOTHING_OPEN } from './evaluation.ts'
import type { ConditionVerdict, Question } from './question.ts'
import { SelfExclusionError } from './undecidable.ts'
import { NO, YES, type Verdict } from './verdict.ts'

/** The bound for an exclusion that depends on itself: its least or its greatest value. */
type Bound = typeof LEAST | typeof MOST
const LEAST = -1
const MOST = 1

/** Questions within a question of which only bounds are sought. */
const BOUNDED_STEPS_MAX = 20_000

/** An evaluation that finds the least and the greatest value of an answer where exclusions depend on themselves. */
export class BoundedEvaluation extends Evaluation {
  #bound: Bound = LEAST
  #steps = 0

  /** The path is that of the least. @throws UndecidableError */
  bounds(question: Question, holds: ConditionVerdict, wantPath: boolean): { least: Verdict; most: Verdict } {
    const most = this.#found(MOST, () => this.find(question, holds, wantPath))
    const least = this.#found(LEAST, () => this.find(question, holds, wantPath))
    return { least, most }
  }

  #found(bound: Bound, find: () => Verdict): Verdict {
    this.#bound = bound
    this.#steps = 0
    return find()
  }

  /** Bounds hold for the way on which they were found: nothing is remembered but what is open. */
  protected override conclude(entry: number, verdict: Verdict): void {
    if (++this.#steps > BOUNDED_STEPS_MAX) throw new SelfExclusionError()
    if (verdict === YES || this.open >= (this.memo.depths[entry] ?? 0)) this.open = NOTHING_OPEN
    this.memo.states[entry] = UNASKED
  }

  /** A NO that rests on no open question settles it, whatever the other parts rest on. */
  protected override intersection(object: number, parts: readonly Expression[]): Verdict {
    const openBefore = this.open
    let open = openBefore
    let worst: Verdict = YES
    for (const part of parts) {
      this.open = NOTHING_OPEN
      const verdict = this.evaluate(object, part)
      worst = Math.min(worst, verdict)
      if (verdict === NO && this.open === NOTHING_OPEN) return this.#settledAt(openBefore)
      open = Math.min(open, this.open)
    }
    this.open = open
    return worst
  }

  #settledAt(open: number): Verdict {
    this.open = open
    return NO
  }

  /** The more is excluded the less is left, so that the least of the one is found from the most of the other. */
  protected override excluded(object: number, without: Expression): Verdict {
    const bound = this.#bound
    this.#bound = bound === LEAST ? MOST : LEAST
    const excluded = this.evaluate(object, without)
    this.#bound = bound
    if (excluded === YES || this.open === NOTHING_OPEN) return excluded
    return bound === LEAST ? YES : NO
  }
}

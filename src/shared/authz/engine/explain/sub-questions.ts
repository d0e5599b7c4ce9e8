import type { Askable, Expression } from '../../model.ts'
import type { Checker } from '../checker.ts'
import type { ConditionVerdict, Question } from '../question.ts'
import { UndecidableError } from '../undecidable.ts'
import { NONE } from '../edge-chains.ts'
import { edgeVerdict } from '../lookup/edge-verdict.ts'
import { Pace, type Steps } from '../../../steps.ts'
import { isSet, type TupleIndex } from '../tuple-index.ts'
import { NO, UNKNOWN, YES, type Verdict } from '../verdict.ts'

/** What a question is asked over. */
export interface Asked {
  readonly index: TupleIndex
  readonly checker: Checker
  readonly question: Question
  readonly holds: ConditionVerdict
}

/** One object that an arrow reaches. */
export interface Reached {
  readonly edge: number
  readonly object: number
  /** What is asked of it; undefined where its type has no such name. */
  readonly target: Askable | undefined
}

/** Answers after which a step ends. */
const ANSWERS_A_STEP = 16

/** Answers the questions within one question, each by a check of its own, so that they agree with what checks say. */
export class SubQuestions {
  readonly #asked: Asked
  readonly #pace = new Pace(ANSWERS_A_STEP)
  readonly #verdicts = new Map<Askable, Map<number, Verdict>>()

  constructor(asked: Asked) {
    this.#asked = asked
  }

  /** Whether the subject has the relation or permission on the object. NO where only the whole question can be decided. */
  of(object: number, member: Askable): Verdict {
    const verdicts = this.#verdicts.get(member) ?? new Map<number, Verdict>()
    this.#verdicts.set(member, verdicts)
    const known = verdicts.get(object)
    if (known !== undefined) return known
    const verdict = this.#check(object, member)
    verdicts.set(object, verdict)
    return verdict
  }

  #check(object: number, member: Askable): Verdict {
    const { checker, question, holds } = this.#asked
    try {
      return checker.check({ ...question, resource: object, asked: member }, holds, false)
    } catch (error) {
      if (error instanceof UndecidableError) return NO
      throw error
    }
  }

  /** The verdict of the expression on the object. */
  *ofExpression(object: number, expression: Expression): Steps<Verdict> {
    const { op, parts, reference } = expression
    yield* this.pause()
    if (reference !== undefined) return this.of(object, reference)
    if (op === 'union') return Math.max(NO, ...(yield* this.#ofEach(object, parts)))
    if (op === 'intersection') return Math.min(YES, ...(yield* this.#ofEach(object, parts)))
    if (op === 'exclusion') return yield* this.#exclusion(object, parts)
    if (op === 'self') return this.#isSelf(object) ? YES : NO
    return yield* this.#arrow(object, expression)
  }

  *#ofEach(object: number, parts: readonly Expression[]): Steps<Verdict[]> {
    const verdicts: Verdict[] = []
    for (const part of parts) verdicts.push(yield* this.ofExpression(object, part))
    return verdicts
  }

  /** Counts an answer, and ends the step where there were enough. */
  *pause(): Steps<void> {
    if (this.#pace.isDue()) yield
  }

  /** The verdict of the edge's tuples by themselves. */
  edge(edge: number): Verdict {
    return edgeVerdict(this.#asked.index, edge, this.#asked.holds)
  }

  /** The verdict of an arrow through one of its tuples. */
  through({ edge, object, target }: Reached): Verdict {
    return target === undefined ? NO : Math.min(this.edge(edge), this.of(object, target))
  }

  /** The objects that an arrow reaches from the object, in the order in which checks follow them. */
  *reached(object: number, { tupleset, targets }: Expression): Iterable<Reached> {
    const { index } = this.#asked
    const set = tupleset && index.mayHave(object, tupleset) ? index.sets.find(object, tupleset.id) : NONE
    if (set === NONE) return
    for (const first of [index.firstObjectSubject(set), index.firstSetSubject(set)]) {
      for (let edge = first; edge !== NONE; edge = index.bySet.next(edge)) {
        const subject = index.edges.b(edge)
        const far = isSet(subject) ? index.sets.objectOf(subject >> 1) : subject >> 1
        yield { edge, object: far, target: targets[index.objects.typeOf(far)] }
      }
    }
  }

  #isSelf(object: number): boolean {
    const { subject, userset } = this.#asked.question
    return userset === undefined && subject === object
  }

  *#exclusion(object: number, [from, without]: readonly Expression[]): Steps<Verdict> {
    const base = from === undefined ? NO : yield* this.ofExpression(object, from)
    const excluded = without === undefined || base === NO ? NO : yield* this.ofExpression(object, without)
    if (excluded === YES) return NO
    return excluded === UNKNOWN ? Math.min(base, UNKNOWN) : base
  }

  *#arrow(object: number, expression: Expression): Steps<Verdict> {
    let best: Verdict = NO
    let worst: Verdict | undefined
    for (const reached of this.reached(object, expression)) {
      yield* this.pause()
      const verdict = this.through(reached)
      best = Math.max(best, verdict)
      if (this.edge(reached.edge) !== NO) worst = Math.min(worst ?? YES, verdict)
    }
    return expression.op === 'all' ? (worst ?? NO) : best
  }
}

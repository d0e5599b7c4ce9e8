import type { ExplainedCondition, Explanation, Outcome } from '../../explanation.ts'
import type { Askable, Expression, RelationModel } from '../../model.ts'
import { NONE } from '../edge-chains.ts'
import type { Condition } from '../edge-conditions.ts'
import type { Steps } from '../../../steps.ts'
import { NO, UNKNOWN, YES, type Verdict } from '../verdict.ts'
import type { ReferenceNames } from './reference-names.ts'
import type { Asked, Reached, SubQuestions } from './sub-questions.ts'

/** Approximate maximum of nodes in one tree. Parts beyond it are marked as left out. */
export const NODES_MAX = 2_000

/** Names the fields that are missing to evaluate a caveat. */
export type MissingFields = (condition: Condition) => readonly string[]

export interface TreeDeps extends Asked {
  readonly questions: SubQuestions
  readonly names: ReferenceNames
  readonly missing: MissingFields
}

/** A part that may be shown: its outcome, and how it is built. Not built where it would be its own proof. */
interface Branch {
  readonly verdict: Verdict
  readonly build: () => Steps<Explanation | undefined>
}

type Parts = Pick<Explanation, 'parts' | 'omitted'>

/** The outcome of a verdict: a caveat that does not hold denies. */
export function outcomeOf(verdict: Verdict): Outcome {
  if (verdict === YES) return 'granted'
  return verdict === UNKNOWN ? 'conditional' : 'denied'
}

/**
 * Builds the tree of one question. For a grant it shows one proof, which is never circular; otherwise all branches
 * with the same outcome: every branch that failed, or every one that depends on a condition.
 */
export class ExplainTree {
  readonly #deps: TreeDeps
  readonly #questions: SubQuestions
  readonly #names: ReferenceNames
  #nodes = 0
  /** The questions being explained further up, and those shown with their parts elsewhere. */
  readonly #open = new Map<Askable, Set<number>>()
  readonly #shown = new Map<Askable, Set<number>>()

  constructor(deps: TreeDeps) {
    this.#deps = deps
    this.#questions = deps.questions
    this.#names = deps.names
  }

  *build(): Steps<Explanation> {
    const { resource, asked } = this.#deps.question
    return (yield* this.#member(resource, asked)) ?? { ...this.#head(resource, asked), omitted: 'too_large', parts: [] }
  }

  #head(object: number, member: Askable): Omit<Explanation, 'parts'> {
    const outcome = outcomeOf(this.#questions.of(object, member))
    return { kind: member.kind, outcome, object: this.#names.object(object), name: member.name }
  }

  *#member(object: number, member: Askable): Steps<Explanation | undefined> {
    const head = this.#head(object, member)
    const isFull = this.#isFull()
    const open = membersIn(this.#open, member)
    if (open.has(object)) return head.outcome === 'granted' ? undefined : { ...head, omitted: 'cycle', parts: [] }
    const shown = membersIn(this.#shown, member)
    if (shown.has(object)) return { ...head, omitted: 'repeated', parts: [] }
    if (isFull) return { ...head, omitted: 'too_large', parts: [] }
    open.add(object)
    const found = yield* this.#partsOf(object, member)
    open.delete(object)
    if (found !== undefined && found.parts.length > 0) shown.add(object)
    return found && { ...head, ...found }
  }

  *#partsOf(object: number, member: Askable): Steps<Parts | undefined> {
    if (this.#isAsker(object, member)) return { parts: [] }
    const verdict = this.#questions.of(object, member)
    if (member.kind === 'relation') return yield* this.#any(verdict, this.#tuples(object, member))
    const part = yield* this.#expression(object, member.expression)
    return part && { parts: [part] }
  }

  #isAsker(object: number, member: Askable): boolean {
    const { subject, userset } = this.#deps.question
    return userset === member && subject === object
  }

  #isFull(): boolean {
    this.#nodes++
    return this.#nodes > NODES_MAX
  }

  *#expression(object: number, expression: Expression): Steps<Explanation | undefined> {
    const { op, reference } = expression
    if (reference !== undefined) return yield* this.#member(object, reference)
    const verdict = yield* this.#questions.ofExpression(object, expression)
    const head = {
      kind: op === 'reference' ? 'nil' : op,
      outcome: outcomeOf(verdict),
      object: this.#names.object(object),
      name: nameOf(expression),
    }
    if (this.#isFull()) return { ...head, omitted: 'too_large', parts: [] }
    const found = yield* this.#operands(object, expression, verdict)
    return found && { ...head, ...found }
  }

  *#operands(object: number, expression: Expression, verdict: Verdict): Steps<Parts | undefined> {
    const { op, parts } = expression
    const branches: Branch[] = []
    for (const part of parts) branches.push(yield* this.#branch(object, part))
    if (op === 'union') return yield* this.#any(verdict, branches)
    if (op === 'intersection') return yield* this.#all(verdict, branches)
    if (op === 'exclusion') return yield* this.#exclusion(verdict, branches)
    if (op === 'arrow') return yield* this.#any(verdict, this.#arrow(object, expression))
    return op === 'all' ? yield* this.#all(verdict, this.#live(object, expression)) : { parts: [] }
  }

  *#branch(object: number, part: Expression): Steps<Branch> {
    const verdict = yield* this.#questions.ofExpression(object, part)
    return { verdict, build: () => this.#expression(object, part) }
  }

  /** One branch that grants; else all that came out like the whole. */
  *#any(verdict: Verdict, branches: Iterable<Branch>): Steps<Parts | undefined> {
    if (verdict !== YES) return yield* this.#like(verdict, branches)
    for (const branch of branches) {
      yield* this.#questions.pause()
      const part = branch.verdict === YES ? yield* branch.build() : undefined
      if (part !== undefined) return { parts: [part] }
    }
    return undefined
  }

  /** All branches that grant; else those that came out like the whole. */
  *#all(verdict: Verdict, branches: Iterable<Branch>): Steps<Parts | undefined> {
    if (verdict !== YES) return yield* this.#like(verdict, branches)
    const parts: Explanation[] = []
    for (const branch of branches) {
      yield* this.#questions.pause()
      const part = yield* branch.build()
      if (part === undefined) return undefined
      parts.push(part)
    }
    return { parts }
  }

  /** The base of an exclusion and, where the base holds, the excluded part. */
  *#exclusion(verdict: Verdict, [from, without]: readonly Branch[]): Steps<Parts | undefined> {
    const base = from && (yield* from.build())
    if (from === undefined || base === undefined) return undefined
    const isTaken = verdict !== YES && outcomeOf(from.verdict) !== 'denied'
    const taken = isTaken && without !== undefined ? yield* without.build() : undefined
    return { parts: taken === undefined ? [base] : [base, taken] }
  }

  *#like(verdict: Verdict, branches: Iterable<Branch>): Steps<Parts> {
    const parts: Explanation[] = []
    for (const branch of branches) {
      yield* this.#questions.pause()
      if (outcomeOf(branch.verdict) !== outcomeOf(verdict)) continue
      if (this.#nodes >= NODES_MAX) return { omitted: 'too_large', parts }
      const part = yield* branch.build()
      if (part !== undefined) parts.push(part)
    }
    return { parts }
  }

  *#arrow(object: number, expression: Expression): Iterable<Branch> {
    for (const reached of this.#questions.reached(object, expression)) {
      yield {
        verdict: this.#questions.through(reached),
        build: () => this.#follow(object, expression, reached),
      }
    }
  }

  /** The tuples that an `all` counts: those that have not expired. */
  *#live(object: number, expression: Expression): Iterable<Branch> {
    for (const reached of this.#questions.reached(object, expression)) {
      if (this.#questions.edge(reached.edge) === NO) continue
      yield {
        verdict: this.#questions.through(reached),
        build: () => this.#follow(object, expression, reached),
      }
    }
  }

  *#follow(object: number, { tupleset }: Expression, reached: Reached): Steps<Explanation | undefined> {
    if (tupleset === undefined) return undefined
    const { edge, target } = reached
    const verdict = this.#questions.through(reached)
    const beyond = target === undefined ? undefined : () => this.#member(reached.object, target)
    return yield* this.#tuple({ object, relation: tupleset, edge, verdict }, beyond)
  }

  /** The tuples of a relation that may concern the subject: its own, the wildcard's, those of sets. */
  *#tuples(object: number, relation: RelationModel): Iterable<Branch> {
    const { index, question } = this.#deps
    const set = index.mayHave(object, relation) ? index.sets.find(object, relation.id) : NONE
    if (set === NONE) return
    const everyone = index.wildcard(question.subjectType)
    const named = question.userset === undefined ? [question.subject, everyone] : []
    for (const subject of named) {
      const edge = subject === NONE ? NONE : index.edges.find(set, subject << 1)
      if (edge === NONE) continue
      const verdict = this.#questions.edge(edge)
      yield { verdict, build: () => this.#tuple({ object, relation, edge, verdict }) }
    }
    yield* this.#sets(object, relation, index.firstSetSubject(set))
  }

  *#sets(object: number, relation: RelationModel, first: number): Iterable<Branch> {
    const { index } = this.#deps
    for (let edge = first; edge !== NONE; edge = index.bySet.next(edge)) {
      const inner = index.edges.b(edge) >> 1
      const member = index.members[index.sets.memberOf(inner)]
      if (member === undefined) continue
      const far = index.sets.objectOf(inner)
      const verdict = Math.min(this.#questions.edge(edge), this.#questions.of(far, member))
      yield { verdict, build: () => this.#tuple({ object, relation, edge, verdict }, () => this.#member(far, member)) }
    }
  }

  /** A tuple, and what it leads to; without that it is the end. */
  *#tuple(
    { object, relation, edge, verdict }: ShownTuple,
    beyond?: () => Steps<Explanation | undefined>,
  ): Steps<Explanation | undefined> {
    const head = {
      kind: 'tuple' as const,
      outcome: outcomeOf(verdict),
      object: this.#names.object(object),
      name: relation.name,
      subject: this.#names.subject(edge),
      ...this.#condition(edge),
    }
    if (this.#isFull()) return { ...head, omitted: 'too_large', parts: [] }
    if (beyond === undefined) return { ...head, parts: [] }
    const part = yield* beyond()
    return part && { ...head, parts: [part] }
  }

  /** What the edge's tuple depends on: of several tuples, that which goes furthest. */
  #condition(edge: number): { readonly condition?: ExplainedCondition } {
    const { index, holds, missing } = this.#deps
    const alternatives = index.conditions.of(edge)
    if (alternatives === undefined || alternatives.unconditional) return {}
    const best = alternatives.conditions
      .map((condition) => ({ condition, verdict: holds(condition) }))
      .reduce((far, next) => (next.verdict > far.verdict ? next : far))
    const isExpired = best.verdict === NO
    const unknown = best.verdict === UNKNOWN ? missing(best.condition) : []
    const caveat = best.condition.caveat?.name ?? ''
    return { condition: { caveat, outcome: outcomeOf(best.verdict), missing: unknown, isExpired } }
  }
}

interface ShownTuple {
  readonly object: number
  readonly relation: RelationModel
  readonly edge: number
  readonly verdict: Verdict
}

function nameOf({ op, tupleset, targets }: Expression): string {
  if (op !== 'arrow' && op !== 'all') return ''
  return `${tupleset?.name}->${targets.find((target) => target !== undefined)?.name}`
}

function membersIn(sets: Map<Askable, Set<number>>, member: Askable): Set<number> {
  const known = sets.get(member)
  if (known !== undefined) return known
  const set = new Set<number>()
  sets.set(member, set)
  return set
}

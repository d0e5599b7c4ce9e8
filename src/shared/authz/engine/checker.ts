import type { Askable, Expression, RelationModel, TypeModel } from '../model.ts'
import { ACTIVE, CheckMemo, FINAL, PROVISIONAL, UNASKED } from './check-memo.ts'
import { NONE } from './edge-chains.ts'
import type { Condition } from './edge-conditions.ts'
import { DIRECT, GrantPath } from './grant-path.ts'
import { Memberships } from './memberships.ts'
import { isSet, type TupleIndex } from './tuple-index.ts'
import { NO, UNKNOWN, YES, type Verdict } from './verdict.ts'

/** Tuples that one chain of a check may pass through. Writes keep nesting to 40, and no object is more than four parents deep. */
export const HOPS_MAX = 50

/** The answer cannot be found: the data is nested deeper than `HOPS_MAX`, or an exclusion depends on itself. */
export class UndecidableError extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'UndecidableError'
  }
}

/** An exclusion depends on itself. The rest of the question may decide it yet. */
class SelfExclusionError extends UndecidableError {
  constructor() {
    super('an exclusion depends on itself')
  }
}

/** How an exclusion that depends on itself counts: not at all, or at least or at most as it may. */
type Bound = typeof EXACT | typeof LEAST | typeof MOST
const EXACT = 0
const LEAST = -1
const MOST = 1

/** Questions within a question of which only bounds are sought. */
const BOUNDED_STEPS_MAX = 20_000

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

/** No open question was met. */
const NOTHING_OPEN = 0x7fffffff

/** Above every verdict: the least of none. */
const UNREACHED = 4

/**
 * Answers checks from a tuple index: synchronous, without caches that outlive a check, without allocation to speak of.
 * A check walks from the resource towards the subject. Every (object, relation or permission) is answered at most a few
 * times: cycles are closed by assuming NO and giving up what rested on the assumption once it fails, which yields the
 * least fixpoint. Where an exclusion depends on itself there is none; then the answer is looked for once as if that excluded
 * all and once as if it excluded nothing, and stands if it is the same.
 */
export class Checker {
  readonly #index: TupleIndex
  readonly #memberships: Memberships
  readonly #memo = new CheckMemo()
  readonly #path = new GrantPath()
  /** Provisional answers, in the order of their completion. */
  readonly #provisional: number[] = []
  #provisionalCount = 0

  #holds: ConditionVerdict = () => UNKNOWN
  #wantPath = false
  /** The subject that `self` means; NONE for a set. */
  #subject = 0
  /** The subject as edges code it. */
  #subjectCode = 0
  #wildcard = 0
  /** The set that asks, if one does: whoever reaches it has reached the asker. */
  #askerObject = NONE
  #askerMember = NONE
  #known = 0
  #hops = 0
  #depth = 0
  #bound: Bound = EXACT
  #boundedSteps = 0
  /** Depth of the highest open question that the answer in hand rests on. */
  #open = NOTHING_OPEN
  /** Path of the answer in hand, if it is YES. */
  #granted = DIRECT

  constructor(index: TupleIndex) {
    this.#index = index
    this.#memberships = new Memberships(index)
  }

  /** @throws UndecidableError */
  check(question: Question, holds: ConditionVerdict, wantPath: boolean): Verdict {
    this.#holds = holds
    this.#wantPath = wantPath
    try {
      return this.#found(question, EXACT)
    } catch (error) {
      if (!(error instanceof SelfExclusionError)) throw error
      return this.#between(question, error)
    }
  }

  #between(question: Question, error: SelfExclusionError): Verdict {
    const most = this.#found(question, MOST)
    const least = this.#found(question, LEAST)
    if (least !== most && most >= UNKNOWN) throw error
    return least
  }

  #found(question: Question, bound: Bound): Verdict {
    this.#start(question)
    this.#bound = bound
    return this.#ask(question.resource, question.asked)
  }

  /** Names along the grant that the last check found. */
  path(): string[] {
    return this.#path.names(this.#granted)
  }

  #start({ subject, subjectType, userset }: Question): void {
    this.#memo.clear()
    this.#path.clear()
    this.#provisionalCount = 0
    this.#hops = 0
    this.#depth = 0
    this.#open = NOTHING_OPEN
    this.#boundedSteps = 0
    this.#known = 0
    this.#granted = DIRECT
    if (userset !== undefined) return this.#startSet(subject, userset)
    this.#askerMember = NONE
    this.#askerObject = NONE
    this.#subject = subject
    this.#subjectCode = subject << 1
    this.#wildcard = this.#index.wildcard(subjectType)
  }

  /** A set is found where an edge leads to it, never through the wildcard, which stands for objects. */
  #startSet(object: number, member: Askable): void {
    this.#askerObject = object
    this.#askerMember = member.id
    this.#subject = NONE
    this.#subjectCode = NONE << 1
    this.#wildcard = NONE
  }

  #ask(object: number, member: Askable): Verdict {
    if (this.#isAsker(object, member)) return this.#reached()
    if (member.kind === 'permission') return this.#answer(object, member, NONE)
    const set = this.#index.mayHave(object, member) ? this.#index.sets.find(object, member.id) : NONE
    if (set === NONE) return NO
    return this.#index.firstSetSubject(set) === NONE ? this.#directly(set) : this.#answer(object, member, set)
  }

  /** Whether the set is the one that asks. */
  #isAsker(object: number, member: Askable): boolean {
    return member.id === this.#askerMember && object === this.#askerObject
  }

  #reached(): Verdict {
    this.#granted = DIRECT
    return YES
  }

  /** Whether the subject, or everyone of its type, is in the set by a tuple of its own. */
  #directly(set: number): Verdict {
    this.#granted = DIRECT
    if (this.#index.firstObjectSubject(set) === NONE) return NO
    const own = this.#index.edges.find(set, this.#subjectCode)
    const verdict = own === NONE ? NO : this.#edge(own)
    if (verdict === YES || this.#wildcard === NONE) return verdict
    const all = this.#index.edges.find(set, this.#wildcard << 1)
    return all === NONE ? verdict : Math.max(verdict, this.#edge(all))
  }

  /** Whether the edge's tuple holds. */
  #edge(edge: number): Verdict {
    const alternatives = this.#index.conditions.of(edge)
    if (alternatives === undefined || alternatives.unconditional) return YES
    let verdict: Verdict = NO
    for (const condition of alternatives.conditions) verdict = Math.max(verdict, this.#holds(condition))
    return verdict
  }

  /** Answers a question that may be part of a cycle. `set` is given for relations. */
  #answer(object: number, member: Askable, set: number): Verdict {
    const memo = this.#memo
    const entry = memo.entry(object, member.id)
    const state = memo.states[entry]
    if (state !== UNASKED) return this.#recall(entry)
    memo.states[entry] = ACTIVE
    memo.depths[entry] = ++this.#depth
    const openBefore = this.#open
    const provisionalBefore = this.#provisionalCount
    this.#open = NOTHING_OPEN
    const verdict = member.kind === 'permission' ? this.#evaluate(object, member.expression) : this.#members(set)
    if (this.#bound === EXACT) this.#conclude(entry, verdict, provisionalBefore)
    else this.#leave(entry, verdict)
    this.#depth--
    this.#open = Math.min(openBefore, this.#open)
    return verdict
  }

  #recall(entry: number): Verdict {
    const memo = this.#memo
    const state = memo.states[entry]
    if (state !== FINAL) this.#open = Math.min(this.#open, memo.depths[entry] ?? 0)
    if (state === ACTIVE) return NO
    this.#granted = memo.paths[entry] ?? DIRECT
    return memo.verdicts[entry] ?? NO
  }

  /**
   * Settles an answer. One that rests on no open question above itself is final. Answers below it that assumed NO for it
   * are final with it when NO it is; otherwise they are forgotten, to be asked again.
   */
  #conclude(entry: number, verdict: Verdict, provisionalBefore: number): void {
    const memo = this.#memo
    const isFinal = verdict === YES || this.#open >= (memo.depths[entry] ?? 0)
    if (verdict !== NO || isFinal) this.#settle(provisionalBefore, verdict === NO ? FINAL : UNASKED)
    memo.verdicts[entry] = verdict
    memo.paths[entry] = this.#granted
    memo.states[entry] = isFinal ? FINAL : PROVISIONAL
    memo.depths[entry] = this.#open
    if (isFinal) this.#open = NOTHING_OPEN
    else this.#provisional[this.#provisionalCount++] = entry
  }

  /** Bounds hold for the way on which they were found: nothing is remembered but what is open. */
  #leave(entry: number, verdict: Verdict): void {
    if (++this.#boundedSteps > BOUNDED_STEPS_MAX) throw new SelfExclusionError()
    if (verdict === YES || this.#open >= (this.#memo.depths[entry] ?? 0)) this.#open = NOTHING_OPEN
    this.#memo.states[entry] = UNASKED
  }

  #settle(from: number, state: typeof FINAL | typeof UNASKED): void {
    for (let at = from; at < this.#provisionalCount; at++) this.#memo.states[this.#provisional[at] ?? 0] = state
    this.#provisionalCount = from
  }

  /** Whether the subject is in one of the sets that the set contains. */
  #members(set: number): Verdict {
    const { sets, edges, bySet, members } = this.#index
    let best = this.#directly(set)
    if (best === YES) return YES
    this.#enter()
    const isKnown = this.#knowsBelow(sets.b(set))
    for (let edge = this.#index.firstSetSubject(set); edge !== NONE; edge = bySet.next(edge)) {
      const inner = edges.b(edge) >> 1
      if (isKnown && !this.#memberships.mayBeIn(inner)) continue
      if (isKnown && !this.#wantPath && this.#memberships.isSurelyIn(inner)) {
        best = Math.max(best, this.#edge(edge))
        if (best === YES) break
        continue
      }
      const member = members[sets.b(inner)]
      if (member === undefined) continue
      best = Math.max(best, this.#within(edge, inner, member))
      if (best !== YES) continue
      this.#granted = this.#step(member.name, this.#granted)
      break
    }
    this.#hops--
    return best
  }

  #knowsBelow(relation: number): boolean {
    if (!this.#index.isPlain(relation) || this.#hops + this.#index.nestingMax > HOPS_MAX) return false
    if (this.#known === 0) {
      const set = this.#askerObject === NONE ? NONE : this.#index.sets.find(this.#askerObject, this.#askerMember)
      this.#known = this.#memberships.find({ subject: this.#subject, wildcard: this.#wildcard, set }) ? 1 : 2
    }
    return this.#known === 1
  }

  /** Asks the set that an edge leads to, under the edge's own condition. */
  #within(edge: number, inner: number, member: Askable): Verdict {
    const held = this.#edge(edge)
    if (held === NO) return NO
    return Math.min(held, this.#askSet(inner, this.#index.sets.a(inner), member))
  }

  /** As `#ask`, of a set that is at hand. */
  #askSet(set: number, object: number, member: Askable): Verdict {
    if (member.kind === 'permission' || this.#isAsker(object, member)) return this.#ask(object, member)
    return this.#index.firstSetSubject(set) === NONE ? this.#directly(set) : this.#answer(object, member, set)
  }

  /** Asks beyond an edge, under the edge's own condition. */
  #through(edge: number, object: number, member: Askable): Verdict {
    const held = this.#edge(edge)
    return held === NO ? NO : Math.min(held, this.#ask(object, member))
  }

  #evaluate(object: number, expression: Expression): Verdict {
    switch (expression.op) {
      case 'reference':
        return this.#reference(object, expression.reference)
      case 'arrow':
        return this.#arrow(object, expression)
      case 'all':
        return this.#all(object, expression)
      case 'union':
        return this.#union(object, expression.parts)
      case 'intersection':
        return this.#intersection(object, expression.parts)
      case 'exclusion':
        return this.#exclusion(object, expression.parts)
      case 'self':
        return this.#self(object)
      default:
        return NO
    }
  }

  #self(object: number): Verdict {
    this.#granted = DIRECT
    return object === this.#subject ? YES : NO
  }

  #reference(object: number, member: Askable | undefined): Verdict {
    if (member === undefined) return NO
    const verdict = this.#ask(object, member)
    if (verdict === YES) this.#granted = this.#step(member.name, this.#granted)
    return verdict
  }

  #union(object: number, parts: readonly Expression[]): Verdict {
    let best: Verdict = NO
    for (const part of parts) {
      best = Math.max(best, this.#evaluate(object, part))
      if (best === YES) return YES
    }
    return best
  }

  #intersection(object: number, parts: readonly Expression[]): Verdict {
    if (this.#bound !== EXACT) return this.#boundedIntersection(object, parts)
    let worst: Verdict = YES
    let path = DIRECT
    for (const part of parts) {
      worst = Math.min(worst, this.#evaluate(object, part))
      if (worst === NO) return NO
      if (this.#wantPath && worst === YES) path = this.#path.joined(path, this.#granted)
    }
    this.#granted = path
    return worst
  }

  /** A NO that rests on no open question settles it, whatever the other parts rest on. */
  #boundedIntersection(object: number, parts: readonly Expression[]): Verdict {
    const openBefore = this.#open
    let open = openBefore
    let worst: Verdict = YES
    for (const part of parts) {
      this.#open = NOTHING_OPEN
      const verdict = this.#evaluate(object, part)
      worst = Math.min(worst, verdict)
      if (verdict === NO && this.#open === NOTHING_OPEN) return this.#settledAt(openBefore)
      open = Math.min(open, this.#open)
    }
    this.#open = open
    return worst
  }

  #settledAt(open: number): Verdict {
    this.#open = open
    return NO
  }

  /** @throws SelfExclusionError where what is excluded depends on a question that is still open: there is no least answer. */
  #exclusion(object: number, [from, without]: readonly Expression[]): Verdict {
    const base = from === undefined ? NO : this.#evaluate(object, from)
    if (base === NO || without === undefined) return base
    const path = this.#granted
    const openBefore = this.#open
    this.#open = NOTHING_OPEN
    const excluded = this.#excluded(object, without)
    this.#open = openBefore
    this.#granted = path
    if (excluded === YES) return NO
    return excluded === UNKNOWN ? Math.min(base, UNKNOWN) : base
  }

  /** The more is excluded the less is left, so that the least of the one is found from the most of the other. */
  #excluded(object: number, without: Expression): Verdict {
    const bound = this.#bound
    this.#bound = bound === EXACT ? EXACT : bound === LEAST ? MOST : LEAST
    const excluded = this.#evaluate(object, without)
    this.#bound = bound
    if (excluded === YES || this.#open === NOTHING_OPEN) return excluded
    if (bound === EXACT) throw new SelfExclusionError()
    return bound === LEAST ? YES : NO
  }

  /** The set of a relation that an arrow follows; NONE where it is empty. */
  #tupleset(object: number, relation: RelationModel): number {
    return this.#index.mayHave(object, relation) ? this.#index.sets.find(object, relation.id) : NONE
  }

  #arrow(object: number, { tupleset, targets }: Expression): Verdict {
    const set = tupleset === undefined ? NONE : this.#tupleset(object, tupleset)
    if (tupleset === undefined || set === NONE) return NO
    this.#enter()
    const near = this.#follow(this.#index.firstObjectSubject(set), tupleset, targets)
    const far = near === YES ? NO : this.#follow(this.#index.firstSetSubject(set), tupleset, targets)
    this.#hops--
    return Math.max(near, far)
  }

  /** Asks the target of each object that a list of edges leads to; of a set, of the object that it belongs to. */
  #follow(first: number, tupleset: RelationModel, targets: readonly (Askable | undefined)[]): Verdict {
    const { edges, bySet, objects, sets } = this.#index
    let best: Verdict = NO
    for (let edge = first; edge !== NONE; edge = bySet.next(edge)) {
      const subject = edges.b(edge)
      const reached = isSet(subject) ? sets.a(subject >> 1) : subject >> 1
      const target = targets[objects.typeOf(reached)]
      if (target === undefined) continue
      best = Math.max(best, this.#through(edge, reached, target))
      if (best !== YES) continue
      this.#granted = this.#step(tupleset.name, this.#step(target.name, this.#granted))
      return YES
    }
    return best
  }

  /** The least verdict over all that the relation reaches. The path is that through one of them. */
  #all(object: number, { tupleset, targets }: Expression): Verdict {
    const set = tupleset === undefined ? NONE : this.#tupleset(object, tupleset)
    if (tupleset === undefined || set === NONE) return NO
    this.#enter()
    const near = this.#each(this.#index.firstObjectSubject(set), tupleset, targets)
    const far = near === NO ? NO : this.#each(this.#index.firstSetSubject(set), tupleset, targets)
    this.#hops--
    const worst = Math.min(near, far)
    return worst === UNREACHED ? NO : worst
  }

  /** As `#follow`, but of all of them. A tuple that has expired reaches nothing; an object that lacks the target denies. */
  #each(first: number, tupleset: RelationModel, targets: readonly (Askable | undefined)[]): Verdict {
    const { edges, bySet, objects, sets } = this.#index
    let worst = UNREACHED
    for (let edge = first; edge !== NONE && worst !== NO; edge = bySet.next(edge)) {
      const held = this.#edge(edge)
      if (held === NO) continue
      const subject = edges.b(edge)
      const reached = isSet(subject) ? sets.a(subject >> 1) : subject >> 1
      const target = targets[objects.typeOf(reached)]
      if (target === undefined) return NO
      worst = Math.min(worst, held, this.#ask(reached, target))
      this.#granted = this.#step(tupleset.name, this.#step(target.name, this.#granted))
    }
    return worst
  }

  #enter(): void {
    this.#hops++
    if (this.#hops > HOPS_MAX) throw new UndecidableError(`nested deeper than ${HOPS_MAX} tuples`)
  }

  #step(name: string, rest: number): number {
    return this.#wantPath ? this.#path.step(name, rest) : DIRECT
  }
}

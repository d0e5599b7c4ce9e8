import type { Askable, Expression, RelationModel } from '../model.ts'
import { Asker } from './asker.ts'
import { ACTIVE, CheckMemo, FINAL, PROVISIONAL, UNASKED } from './check-memo.ts'
import { NONE } from './edge-chains.ts'
import { DIRECT, GrantPath } from './grant-path.ts'
import { INSIDE, OUTSIDE, PERHAPS } from './memberships.ts'
import type { ConditionVerdict, Question } from './question.ts'
import { isSet, type TupleIndex } from './tuple-index.ts'
import { HOPS_MAX, SelfExclusionError, UndecidableError } from './undecidable.ts'
import { NO, UNKNOWN, YES, type Verdict } from './verdict.ts'

/** No open question was met. */
export const NOTHING_OPEN = 0x7fffffff

/** Above every verdict: the least of none. */
const UNREACHED = 4

/** Below every verdict: not found out yet. */
const UNSETTLED = -1

/**
 * Walks from the resource of a question towards its subject. Every (object, relation or permission) is answered at most a
 * few times: cycles are closed by assuming NO and discarding dependent answers if the assumption fails, which yields the
 * least fixpoint. Groups in groups are not walked where the subject's own are known: see `Memberships`.
 */
export class Evaluation {
  readonly #index: TupleIndex
  readonly #asker: Asker
  protected readonly memo = new CheckMemo()
  readonly #path = new GrantPath()
  /** Provisional answers, in the order of their completion. */
  readonly #provisional: number[] = []
  #provisionalCount = 0
  #wantPath = false
  #hops = 0
  #depth = 0
  /** Depth of the highest open question that the current answer depends on. */
  protected open = NOTHING_OPEN
  /** Path of the current answer, if it is YES. */
  #granted = DIRECT

  constructor(index: TupleIndex) {
    this.#index = index
    this.#asker = new Asker(index)
  }

  /** @throws UndecidableError */
  find(question: Question, holds: ConditionVerdict, wantPath: boolean): Verdict {
    this.#asker.start(question, holds)
    this.#wantPath = wantPath
    this.memo.clear()
    this.#path.clear()
    this.#provisionalCount = 0
    this.#hops = 0
    this.#depth = 0
    this.open = NOTHING_OPEN
    this.#granted = DIRECT
    return this.#ask(question.resource, question.asked)
  }

  /** Names along the grant that was found last. */
  path(): string[] {
    return this.#path.names(this.#granted)
  }

  #ask(object: number, member: Askable): Verdict {
    if (this.#asker.isSet(object, member)) return this.#reached()
    if (member.kind === 'permission') return this.#answer(object, member, NONE)
    const set = this.#index.mayHave(object, member) ? this.#index.sets.find(object, member.id) : NONE
    return set === NONE ? NO : this.#askSet(set, object, member)
  }

  /** As `#ask`, for a relation's set that is already known and not the one that asks. */
  #askSet(set: number, object: number, member: RelationModel): Verdict {
    if (this.#index.firstSetSubject(set) === NONE) return this.#directly(set)
    const verdict = this.#wantPath || !this.#isReadableFromBelow(member.id) ? UNSETTLED : this.#fromBelow(set)
    return verdict === UNSETTLED ? this.#answer(object, member, set) : verdict
  }

  /**
   * Whether the subject is in the set, by the known sets of the asker; UNSETTLED where a set must be walked. Without
   * a walk there is no cycle, and nothing to be remembered.
   */
  #fromBelow(set: number): Verdict {
    const { edges, bySet } = this.#index
    let best = this.#directly(set)
    for (let edge = this.#index.firstSetSubject(set); edge !== NONE && best !== YES; edge = bySet.next(edge)) {
      const membership = this.#asker.membershipIn(edges.b(edge) >> 1)
      if (membership === PERHAPS) return UNSETTLED
      if (membership === INSIDE) best = Math.max(best, this.#asker.held(edge))
    }
    return best
  }

  #directly(set: number): Verdict {
    this.#granted = DIRECT
    return this.#asker.directly(set)
  }

  #reached(): Verdict {
    this.#granted = DIRECT
    return YES
  }

  /** Answers a question that may be part of a cycle. `set` is given for relations. */
  #answer(object: number, member: Askable, set: number): Verdict {
    const memo = this.memo
    const entry = memo.entry(object, member.id)
    const state = memo.states[entry]
    if (state !== UNASKED) return this.#recall(entry)
    memo.states[entry] = ACTIVE
    memo.depths[entry] = ++this.#depth
    const openBefore = this.open
    const provisionalBefore = this.#provisionalCount
    this.open = NOTHING_OPEN
    const verdict = member.kind === 'permission' ? this.evaluate(object, member.expression) : this.#members(set)
    this.conclude(entry, verdict, provisionalBefore)
    this.#depth--
    this.open = Math.min(openBefore, this.open)
    return verdict
  }

  #recall(entry: number): Verdict {
    const memo = this.memo
    const state = memo.states[entry]
    if (state !== FINAL) this.open = Math.min(this.open, memo.depths[entry] ?? 0)
    if (state === ACTIVE) return NO
    this.#granted = memo.paths[entry] ?? DIRECT
    return memo.verdicts[entry] ?? NO
  }

  /**
   * Settles an answer. One that depends on no open question above itself is final. Answers below it that assumed NO for it
   * become final with it if it is NO; otherwise they are discarded and evaluated again.
   */
  protected conclude(entry: number, verdict: Verdict, provisionalBefore: number): void {
    const memo = this.memo
    const isFinal = verdict === YES || this.open >= (memo.depths[entry] ?? 0)
    if (verdict !== NO || isFinal) this.#settle(provisionalBefore, verdict === NO ? FINAL : UNASKED)
    memo.verdicts[entry] = verdict
    memo.paths[entry] = this.#granted
    memo.states[entry] = isFinal ? FINAL : PROVISIONAL
    memo.depths[entry] = this.open
    if (isFinal) this.open = NOTHING_OPEN
    else this.#provisional[this.#provisionalCount++] = entry
  }

  #settle(from: number, state: typeof FINAL | typeof UNASKED): void {
    for (let at = from; at < this.#provisionalCount; at++) this.memo.states[this.#provisional[at] ?? 0] = state
    this.#provisionalCount = from
  }

  /** Whether the subject is in the set, by a tuple of its own or by being in one of the sets that it contains. */
  #members(set: number): Verdict {
    const { sets, edges, bySet } = this.#index
    let best = this.#directly(set)
    if (best === YES) return YES
    const isReadable = this.#isReadableFromBelow(sets.memberOf(set))
    this.#enter()
    for (let edge = this.#index.firstSetSubject(set); edge !== NONE; edge = bySet.next(edge)) {
      const inner = edges.b(edge) >> 1
      best = Math.max(best, isReadable ? this.#plainlyWithin(edge, inner) : this.#within(edge, inner))
      if (best === YES) break
    }
    this.#hops--
    return best
  }

  /** Whether the sets within sets of the relation need not be walked, which they must where that may end at `HOPS_MAX`. */
  #isReadableFromBelow(relation: number): boolean {
    return this.#index.isPlain(relation) && this.#hops + this.#index.nestingMax < HOPS_MAX
  }

  /** As `#within`, but decides from the known sets of the asker where they suffice. */
  #plainlyWithin(edge: number, inner: number): Verdict {
    const membership = this.#asker.membershipIn(inner)
    if (membership === OUTSIDE) return NO
    return membership === INSIDE && !this.#wantPath ? this.#asker.held(edge) : this.#within(edge, inner)
  }

  /** Asks the set that an edge leads to, under the edge's own condition. */
  #within(edge: number, inner: number): Verdict {
    const held = this.#asker.held(edge)
    const { members, sets } = this.#index
    const member = members[sets.memberOf(inner)]
    if (held === NO || member === undefined) return NO
    const verdict = Math.min(held, this.#askInner(inner, sets.objectOf(inner), member))
    if (verdict === YES) this.#granted = this.#step(member.name, this.#granted)
    return verdict
  }

  /** As `#ask`, for a set that is already known. */
  #askInner(set: number, object: number, member: Askable): Verdict {
    if (member.kind === 'permission' || this.#asker.isSet(object, member)) return this.#ask(object, member)
    return this.#askSet(set, object, member)
  }

  /** Asks beyond an edge, under the edge's own condition. */
  #through(edge: number, object: number, member: Askable): Verdict {
    const held = this.#asker.held(edge)
    return held === NO ? NO : Math.min(held, this.#ask(object, member))
  }

  protected evaluate(object: number, expression: Expression): Verdict {
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
        return this.intersection(object, expression.parts)
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
    return this.#asker.isObject(object) ? YES : NO
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
      best = Math.max(best, this.evaluate(object, part))
      if (best === YES) return YES
    }
    return best
  }

  protected intersection(object: number, parts: readonly Expression[]): Verdict {
    let worst: Verdict = YES
    let path = DIRECT
    for (const part of parts) {
      worst = Math.min(worst, this.evaluate(object, part))
      if (worst === NO) return NO
      if (this.#wantPath && worst === YES) path = this.#path.joined(path, this.#granted)
    }
    this.#granted = path
    return worst
  }

  /** @throws SelfExclusionError where what is excluded depends on a question that is still open: there is no least answer. */
  #exclusion(object: number, parts: readonly Expression[]): Verdict {
    const from = parts[0]
    const without = parts[1]
    const base = from === undefined ? NO : this.evaluate(object, from)
    if (base === NO || without === undefined) return base
    const path = this.#granted
    const openBefore = this.open
    this.open = NOTHING_OPEN
    const excluded = this.excluded(object, without)
    this.open = openBefore
    this.#granted = path
    if (excluded === YES) return NO
    return excluded === UNKNOWN ? Math.min(base, UNKNOWN) : base
  }

  /** @throws SelfExclusionError where the answer rests on a question that is still open. */
  protected excluded(object: number, without: Expression): Verdict {
    const excluded = this.evaluate(object, without)
    if (excluded !== YES && this.open !== NOTHING_OPEN) throw new SelfExclusionError()
    return excluded
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
      const reached = isSet(subject) ? sets.objectOf(subject >> 1) : subject >> 1
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
      const held = this.#asker.held(edge)
      if (held === NO) continue
      const subject = edges.b(edge)
      const reached = isSet(subject) ? sets.objectOf(subject >> 1) : subject >> 1
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

import type { Askable, Expression, RelationModel, TypeModel } from '../../model.ts'
import type { ConditionVerdict } from '../question.ts'
import { HOPS_MAX, UndecidableError } from '../undecidable.ts'
import { NONE } from '../edge-chains.ts'
import { Pace, type Steps } from '../../../steps.ts'
import { isSet, type TupleIndex } from '../tuple-index.ts'
import { NO, UNKNOWN, YES, type Verdict } from '../verdict.ts'
import { edgeVerdict } from './edge-verdict.ts'
import { NumberMap } from './number-map.ts'
import type { SubjectReachability } from './subject-reachability.ts'
import {
  addAll,
  addEveryone,
  addNamed,
  emptySet,
  exclusionOf,
  intersectionOf,
  isEmpty,
  isSameSet,
  type SubjectSet,
} from './subject-set.ts'

/** What a walk runs over, and whom it looks for. */
export interface SubjectSearch {
  readonly index: TupleIndex
  readonly type: TypeModel
  readonly reach: SubjectReachability
  readonly holds: ConditionVerdict
}

/** Somewhere on the way down: as far as `verdict` goes, after so many tuples. */
interface Step {
  readonly object: number
  readonly verdict: Verdict
  readonly hops: number
}

/** One set in the making, filled by a walk along unions, arrows and sets in sets. */
interface Flood {
  readonly set: SubjectSet
  /** By object and relation or permission: how far it has been gone on from. */
  readonly seen: NumberMap<Verdict>
  readonly certain: FloodStep[]
  readonly possible: FloodStep[]
}

interface FloodStep extends Step {
  readonly member: Askable
}

/** An intersection, exclusion or `all` on one object that is being worked out. */
interface OpenSet {
  readonly depth: number
  /** The interim answer while it is computed: the subjects of the last round, at first none. */
  assumed: SubjectSet
  isMet: boolean
}

const NOTHING_OPEN = Infinity

/** Rounds in which sets that contain themselves are worked out, over one search. Real data needs none. */
const ROUNDS_MAX = 10_000

/**
 * Finds every subject of a type that has what is asked on an object, from the object downwards. Unions, arrows and sets in
 * sets are one walk that visits everything once (twice where it is first found conditionally); intersections, exclusions
 * and `all` are worked out as sets of their own, exactly, wildcards and their exceptions included. Cycles are closed by
 * assuming nobody and repeating until nothing is added.
 */
export class SubjectWalk {
  readonly #search: SubjectSearch
  readonly #pace = new Pace()
  readonly #done = new Map<Expression, Map<number, SubjectSet>>()
  readonly #open = new Map<Expression, Map<number, OpenSet>>()
  #depth = 0
  #rounds = 0
  /** Depth of the highest open set that the sets in hand rest on. */
  #lowest = NOTHING_OPEN

  constructor(search: SubjectSearch) {
    this.#search = search
  }

  /** @throws UndecidableError */
  run(object: number, asked: Askable): Steps<SubjectSet> {
    return this.#having(object, asked, 0)
  }

  *#having(object: number, member: Askable, hops: number): Steps<SubjectSet> {
    const flood = newFlood()
    this.#reach(flood, member, { object, verdict: YES, hops })
    return yield* this.#drained(flood)
  }

  *#drained(flood: Flood): Steps<SubjectSet> {
    const { certain, possible, set } = flood
    for (let at = 0, later = 0; at < certain.length || later < possible.length;) {
      const step = at < certain.length ? certain[at++] : possible[later++]
      if (this.#pace.isDue()) yield
      if (step === undefined || this.#isOutdone(flood, step)) continue
      if (step.member.kind === 'permission') yield* this.#evaluate(flood, step.member.expression, step)
      else yield* this.#relation(flood, step.member, step)
    }
    return set
  }

  #isOutdone({ seen }: Flood, { object, member, verdict }: FloodStep): boolean {
    return (seen.get(this.#keyOf(object, member)) ?? NO) > verdict
  }

  #keyOf(object: number, { id }: Askable): number {
    return object * this.#search.reach.length + id
  }

  #reach(flood: Flood, member: Askable, { object, verdict, hops }: Step): void {
    if (verdict < UNKNOWN || this.#search.reach[member.id] === 0) return
    const key = this.#keyOf(object, member)
    if ((flood.seen.get(key) ?? NO) >= verdict) return
    if (hops > HOPS_MAX) throw new UndecidableError(`nested deeper than ${HOPS_MAX} tuples`)
    flood.seen.set(key, verdict)
    const steps = verdict === YES ? flood.certain : flood.possible
    steps.push({ object, member, verdict, hops })
  }

  *#relation(flood: Flood, relation: RelationModel, step: Step): Steps<void> {
    const { index, holds } = this.#search
    const set = index.mayHave(step.object, relation) ? index.sets.find(step.object, relation.id) : NONE
    if (set === NONE) return
    yield* this.#objects(flood.set, index.firstObjectSubject(set), step.verdict)
    for (let edge = index.firstSetSubject(set); edge !== NONE; edge = index.bySet.next(edge)) {
      if (this.#pace.isDue()) yield
      const inner = index.edges.b(edge) >> 1
      const member = index.members[index.sets.memberOf(inner)]
      const verdict = Math.min(step.verdict, edgeVerdict(index, edge, holds))
      if (member !== undefined)
        this.#reach(flood, member, { object: index.sets.objectOf(inner), verdict, hops: step.hops + 1 })
    }
  }

  /** Adds the objects of the type that a list of edges leads to. */
  *#objects(set: SubjectSet, first: number, most: Verdict): Steps<void> {
    const { index, type, holds } = this.#search
    const everyone = index.wildcard(type)
    for (let edge = first; edge !== NONE; edge = index.bySet.next(edge)) {
      if (this.#pace.isDue()) yield
      const subject = index.edges.b(edge) >> 1
      if (index.objects.typeOf(subject) !== type.index) continue
      const verdict = Math.min(most, edgeVerdict(index, edge, holds))
      if (verdict < UNKNOWN) continue
      if (subject === everyone) yield* addEveryone(set, verdict)
      else addNamed(set, subject, verdict)
    }
  }

  *#evaluate(flood: Flood, expression: Expression, step: Step): Steps<void> {
    const { op, parts, reference } = expression
    if (reference !== undefined) this.#reach(flood, reference, step)
    else if (op === 'union') for (const part of parts) yield* this.#evaluate(flood, part, step)
    else if (op === 'arrow') yield* this.#arrow(flood, expression, step)
    else if (op === 'self') this.#self(flood, step)
    else if (op !== 'nil') yield* addAll(flood.set, yield* this.#settled(expression, step), step.verdict)
  }

  #self({ set }: Flood, { object, verdict }: Step): void {
    const { index, type } = this.#search
    if (index.objects.typeOf(object) === type.index) addNamed(set, object, verdict)
  }

  *#arrow(flood: Flood, expression: Expression, step: Step): Steps<void> {
    for (const { object, target, held } of this.#targets(expression, step.object)) {
      if (this.#pace.isDue()) yield
      const verdict = Math.min(step.verdict, held)
      if (target !== undefined) this.#reach(flood, target, { object, verdict, hops: step.hops + 1 })
    }
  }

  *#targets({ tupleset, targets }: Expression, from: number): Iterable<ArrowTarget> {
    const { index, holds } = this.#search
    const set = tupleset && index.mayHave(from, tupleset) ? index.sets.find(from, tupleset.id) : NONE
    if (set === NONE) return
    for (const first of [index.firstObjectSubject(set), index.firstSetSubject(set)]) {
      for (let edge = first; edge !== NONE; edge = index.bySet.next(edge)) {
        const subject = index.edges.b(edge)
        const object = isSet(subject) ? index.sets.objectOf(subject >> 1) : subject >> 1
        yield { object, target: targets[index.objects.typeOf(object)], held: edgeVerdict(index, edge, holds) }
      }
    }
  }

  /** The subjects of an intersection, exclusion or `all` on the object. */
  *#settled(expression: Expression, { object, hops }: Step): Steps<SubjectSet> {
    const done = mapIn(this.#done, expression)
    const known = done.get(object) ?? this.#assumed(expression, object)
    if (known !== undefined) return known
    const before = this.#lowest
    this.#lowest = NOTHING_OPEN
    const depth = ++this.#depth
    const set = yield* this.#settle(expression, object, hops)
    this.#depth--
    if (this.#lowest >= depth) {
      done.set(object, set)
      this.#lowest = NOTHING_OPEN
    }
    this.#lowest = Math.min(before, this.#lowest)
    return set
  }

  #assumed(expression: Expression, object: number): SubjectSet | undefined {
    const open = this.#open.get(expression)?.get(object)
    if (open === undefined) return undefined
    open.isMet = true
    this.#lowest = Math.min(this.#lowest, open.depth)
    return open.assumed
  }

  *#settle(expression: Expression, object: number, hops: number): Steps<SubjectSet> {
    const open: OpenSet = { depth: this.#depth, assumed: emptySet(), isMet: false }
    const opened = mapIn(this.#open, expression)
    opened.set(object, open)
    let set = yield* this.#combine(expression, object, hops)
    while (open.isMet && !(yield* isSameSet(set, open.assumed))) {
      if (++this.#rounds > ROUNDS_MAX) throw new UndecidableError('sets that contain themselves are too many')
      open.assumed = set
      set = yield* this.#combine(expression, object, hops)
    }
    opened.delete(object)
    return set
  }

  *#combine(expression: Expression, object: number, hops: number): Steps<SubjectSet> {
    if (expression.op === 'exclusion') return yield* this.#exclusion(expression.parts, object, hops)
    if (expression.op === 'all') return yield* this.#all(expression, object, hops)
    let both: SubjectSet | undefined
    for (const part of expression.parts) {
      const set = yield* this.#of(part, object, hops)
      both = both === undefined ? set : yield* intersectionOf(both, set)
      if (isEmpty(both)) break
    }
    return both ?? emptySet()
  }

  /** The subjects of one part of an expression. */
  *#of(part: Expression, object: number, hops: number): Steps<SubjectSet> {
    const flood = newFlood()
    yield* this.#evaluate(flood, part, { object, verdict: YES, hops })
    return yield* this.#drained(flood)
  }

  /** @throws UndecidableError where what is excluded depends on a set that is still open: there is no least answer. */
  *#exclusion([from, without]: readonly Expression[], object: number, hops: number): Steps<SubjectSet> {
    const base = from === undefined ? emptySet() : yield* this.#of(from, object, hops)
    if (isEmpty(base) || without === undefined) return base
    const before = this.#lowest
    this.#lowest = NOTHING_OPEN
    const excluded = yield* this.#of(without, object, hops)
    if (this.#lowest !== NOTHING_OPEN) throw new UndecidableError('an exclusion depends on itself')
    this.#lowest = before
    return yield* exclusionOf(base, excluded)
  }

  /** Those whom all that the relation reachabilities have in common. A tuple that has expired reachabilities nothing. */
  *#all(expression: Expression, object: number, hops: number): Steps<SubjectSet> {
    let common: SubjectSet | undefined
    for (const { object: reached, target, held } of this.#targets(expression, object)) {
      if (this.#pace.isDue()) yield
      if (held === NO) continue
      const set = emptySet()
      if (target !== undefined && held >= UNKNOWN) {
        yield* addAll(set, yield* this.#having(reached, target, hops + 1), held)
      }
      common = common === undefined ? set : yield* intersectionOf(common, set)
      if (isEmpty(common)) break
    }
    return common ?? emptySet()
  }
}

interface ArrowTarget {
  readonly object: number
  /** What is asked of it; undefined where its type has no such name. */
  readonly target: Askable | undefined
  readonly held: Verdict
}

function newFlood(): Flood {
  return { set: emptySet(), seen: new NumberMap(), certain: [], possible: [] }
}

function mapIn<K, V>(maps: Map<K, Map<number, V>>, key: K): Map<number, V> {
  const known = maps.get(key)
  if (known !== undefined) return known
  const map = new Map<number, V>()
  maps.set(key, map)
  return map
}

import { Pace, type Steps } from '../../../steps.ts'
import { NO, UNKNOWN, YES, type Verdict } from '../verdict.ts'
import { NumberMap } from './number-map.ts'

/** Subjects of one type by number, each with how far it is in the set: NO, UNKNOWN or YES. */
export interface SubjectSet {
  /** Those that are in it by themselves. */
  readonly named: NumberMap<Verdict>
  /** Those of whom the wildcard holds less than of everyone. */
  readonly except: NumberMap<Verdict>
  /** Everyone else: what the wildcard gives. */
  everyone: Verdict
}

/** A set that nobody is in. */
export function emptySet(): SubjectSet {
  return { named: new NumberMap(), except: new NumberMap(), everyone: NO }
}

export function isEmpty({ named, everyone }: SubjectSet): boolean {
  return everyone === NO && named.size === 0
}

/** How far the subject is in the set. */
export function verdictIn(set: SubjectSet, subject: number): Verdict {
  return Math.max(set.named.get(subject) ?? NO, throughWildcard(set, subject))
}

/** Puts one subject into the set. */
export function addNamed({ named }: SubjectSet, subject: number, verdict: Verdict): void {
  if (verdict > (named.get(subject) ?? NO)) named.set(subject, verdict)
}

/** Puts everyone into the set. */
export function* addEveryone(set: SubjectSet, verdict: Verdict): Steps<void> {
  const pace = new Pace()
  set.everyone = Math.max(set.everyone, verdict)
  for (const [subject, excepted] of set.except) {
    raiseExcept(set, subject, Math.max(excepted, verdict))
    if (pace.isDue()) yield
  }
}

/** Puts in anyone who is in `other`, at most as far as `most`. */
export function* addAll(set: SubjectSet, other: SubjectSet, most: Verdict): Steps<void> {
  const pace = new Pace()
  for (const [subject, verdict] of other.named) {
    addNamed(set, subject, Math.min(verdict, most))
    if (pace.isDue()) yield
  }
  const throughBoth = new NumberMap<Verdict>()
  for (const subject of eachOf(set.except, other.except)) {
    const throughOther = Math.min(throughWildcard(other, subject), most)
    throughBoth.set(subject, Math.max(throughWildcard(set, subject), throughOther))
    if (pace.isDue()) yield
  }
  set.everyone = Math.max(set.everyone, Math.min(other.everyone, most))
  for (const [subject, verdict] of throughBoth) {
    raiseExcept(set, subject, verdict)
    if (pace.isDue()) yield
  }
}

/** Those who are in both sets. */
export function* intersectionOf(a: SubjectSet, b: SubjectSet): Steps<SubjectSet> {
  const pace = new Pace()
  const both = emptySet()
  both.everyone = Math.min(a.everyone, b.everyone)
  for (const subject of eachOf(a.named, b.named)) {
    addNamed(both, subject, Math.min(verdictIn(a, subject), verdictIn(b, subject)))
    if (pace.isDue()) yield
  }
  for (const subject of eachOf(a.except, b.except)) {
    raiseExcept(both, subject, Math.min(throughWildcard(a, subject), throughWildcard(b, subject)))
    if (pace.isDue()) yield
  }
  return both
}

/** Those who are in the one set but not in the other. */
export function* exclusionOf(from: SubjectSet, without: SubjectSet): Steps<SubjectSet> {
  const pace = new Pace()
  const rest = emptySet()
  rest.everyone = lessExcluded(from.everyone, without.everyone)
  for (const [subject, verdict] of from.named) {
    addNamed(rest, subject, lessExcluded(verdict, verdictIn(without, subject)))
    if (pace.isDue()) yield
  }
  if (from.everyone === NO) return rest
  for (const subject of eachOf(from.except, without.named, without.except)) {
    const left = lessExcluded(throughWildcard(from, subject), verdictIn(without, subject))
    if (left > rest.everyone) addNamed(rest, subject, left)
    else raiseExcept(rest, subject, left)
    if (pace.isDue()) yield
  }
  return rest
}

/** Whether the sets hold the same subjects equally far. */
export function* isSameSet(a: SubjectSet, b: SubjectSet): Steps<boolean> {
  return a.everyone === b.everyone && (yield* isSameMap(a.named, b.named)) && (yield* isSameMap(a.except, b.except))
}

function* isSameMap(a: NumberMap<Verdict>, b: NumberMap<Verdict>): Steps<boolean> {
  if (a.size !== b.size) return false
  const pace = new Pace()
  for (const [subject, verdict] of a) {
    if (b.get(subject) !== verdict) return false
    if (pace.isDue()) yield
  }
  return true
}

/** The subjects of the maps; those of several come several times, which changes no set. */
function* eachOf(...maps: readonly NumberMap<Verdict>[]): Iterable<number> {
  for (const map of maps) yield* map.keys()
}

function throughWildcard({ everyone, except }: SubjectSet, subject: number): Verdict {
  return except.get(subject) ?? everyone
}

/** An exception is one only as long as it is below everyone. */
function raiseExcept({ everyone, except }: SubjectSet, subject: number, verdict: Verdict): void {
  if (verdict < everyone) except.set(subject, verdict)
  else except.delete(subject)
}

function lessExcluded(base: Verdict, excluded: Verdict): Verdict {
  if (excluded === YES) return NO
  return excluded === UNKNOWN ? Math.min(base, UNKNOWN) : base
}

import { Pace, type Steps } from '../../../steps.ts'
import { NO, UNKNOWN, YES, type Verdict } from '../verdict.ts'
import { NumberList } from './number-list.ts'
import { verdictIn, type SubjectSet } from './subject-set.ts'

/** The subjects that a set names, by how far they are in it. */
export interface SubjectNumbers {
  readonly granted: Int32Array
  readonly unknown: Int32Array
  /** Those excepted from everyone. */
  readonly denied: Int32Array
}

/** Sorts the subjects that the set names by how far they are in it. */
export function* subjectNumbers(set: SubjectSet): Steps<SubjectNumbers> {
  const pace = new Pace()
  const lists = new Map<Verdict, NumberList>([YES, UNKNOWN, NO].map((verdict) => [verdict, new NumberList()]))
  for (const subject of set.named.keys()) {
    lists.get(verdictIn(set, subject))?.push(subject)
    if (pace.isDue()) yield
  }
  for (const subject of set.except.keys()) {
    if (!set.named.has(subject)) lists.get(verdictIn(set, subject))?.push(subject)
    if (pace.isDue()) yield
  }
  const numbersOf = (verdict: Verdict): Int32Array => lists.get(verdict)?.numbers() ?? new Int32Array(0)
  return { granted: numbersOf(YES), unknown: numbersOf(UNKNOWN), denied: numbersOf(NO) }
}

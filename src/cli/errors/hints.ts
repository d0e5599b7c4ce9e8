import type { ProblemAnswer } from '../../client/failures.ts'
import type { Session } from '../session/session.ts'

/** A refused call with the words of the command that made it. */
export interface Refusal {
  readonly problem: ProblemAnswer
  readonly session: Session
  readonly words: string
}

/** Whole lines that say what to do next, most specific first. */
export type Hints = (refusal: Refusal) => readonly string[] | Promise<readonly string[]>

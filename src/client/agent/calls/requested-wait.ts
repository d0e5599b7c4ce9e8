import { ProblemAnswer } from '../../failures.ts'

/** The wait that a limit of rate or capacity requests, in ms; undefined for any other failure. */
export function requestedWaitMs(error: unknown): number | undefined {
  const isLimited = error instanceof ProblemAnswer && error.status === 429
  return isLimited ? (error.retryAfterSeconds ?? 1) * 1000 : undefined
}

/** The least pause that a server which is unavailable for now asks for, in ms; 0 where it does not. */
export function unavailableWaitMs(error: ProblemAnswer): number {
  return error.status === 503 ? (error.retryAfterSeconds ?? 0) * 1000 : 0
}

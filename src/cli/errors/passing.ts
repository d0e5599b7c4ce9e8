import { ProblemAnswer, TransportFailure } from '../../client/failures.ts'

/** Whether a failure may be over the next time: a server that is away or busy, not one that refuses. */
export function isPassing(error: unknown): error is Error {
  if (error instanceof ProblemAnswer) return (error.status >= 500 && error.status !== 501) || error.status === 429
  return error instanceof TransportFailure && ['unreachable', 'broken', 'timeout'].includes(error.fault)
}

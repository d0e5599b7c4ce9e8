import { dimensionOf } from '../../client/agent/calls/capacity-dimension.ts'
import { ProblemAnswer, TransportFailure } from '../../client/failures.ts'
import type { AgentOperation } from '../../client/agent/calls/operations.ts'
import type { Statistics } from './statistics.ts'

/**
 * Measures a call and counts its outcome. Resolves with undefined if it failed.
 *
 * @throws any error that is neither a refusal nor a transport failure: a bug.
 */
export async function measure<T>(
  statistics: Statistics,
  operation: AgentOperation,
  call: () => Promise<T>,
): Promise<T | undefined> {
  const startedMs = performance.now()
  try {
    const answer = await call()
    statistics.succeeded(operation, performance.now() - startedMs)
    return answer
  } catch (error) {
    statistics.failed(operation, failureCode(error), dimensionOf(error))
    return undefined
  }
}

function failureCode(error: unknown): string {
  if (error instanceof ProblemAnswer) return error.code
  if (error instanceof TransportFailure) return error.fault
  throw error
}

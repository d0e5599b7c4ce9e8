import { ProblemAnswer, TransportFailure } from '../../client/failures.ts'
import type { SimulatedOperation } from './counts.ts'
import type { Statistics } from './statistics.ts'

/**
 * Measures a call and counts its outcome. Resolves with undefined if it failed.
 *
 * @throws any error that is neither a refusal nor a transport failure: a bug.
 */
export async function measure<T>(
  statistics: Statistics,
  operation: SimulatedOperation,
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

/** The dimension of capacity of which a Domain has too much; undefined for any other failure. */
export function dimensionOf(error: unknown): string | undefined {
  const dimension = error instanceof ProblemAnswer ? error.document['dimension'] : undefined
  return typeof dimension === 'string' ? dimension : undefined
}

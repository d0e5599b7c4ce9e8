import { ProblemAnswer, TransportFailure } from '../../client/failures.ts'
import type { SimulatedOperation } from './counts.ts'
import type { Statistics } from './statistics.ts'

/** Times a call and counts how it ended; undefined when it failed. Anything but a refusal or a broken wire is a bug and is thrown on. */
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
    statistics.failed(operation, failureCode(error))
    return undefined
  }
}

function failureCode(error: unknown): string {
  if (error instanceof ProblemAnswer) return error.code
  if (error instanceof TransportFailure) return error.fault
  throw error
}

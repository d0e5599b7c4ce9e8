import { problem } from '../../../shared/problems.ts'

/** SpiceDB refuses the schema: it is invalid, or existing relationships would lose their definition. */
export class SchemaRefused extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause })
    this.name = 'SchemaRefused'
  }
}

/** SpiceDB could not evaluate a caveat with the given values. */
export class CaveatFailed extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause })
    this.name = 'CaveatFailed'
  }
}

/** gRPC status codes that are handled separately. */
const INVALID_ARGUMENT = 3
export const NOT_FOUND = 5
const FAILED_PRECONDITION = 9

/** An error of a call, as gRPC gives it. */
interface CallError extends Error {
  readonly code: number
}

function isCallError(error: unknown): error is CallError {
  return error instanceof Error && 'code' in error && typeof error.code === 'number'
}

export const codeOf = (error: unknown): number | undefined => (isCallError(error) ? error.code : undefined)

/**
 * Translates a failed call. Without an answer nothing can be trusted: SpiceDB is unavailable, too slow, a different
 * server, or has no schema. Data that is nested too deep is the one 500 that checks declare.
 */
export function unanswered(error: unknown): Error {
  if (!isCallError(error)) return problem('authz_unavailable', {}, error)
  if (/max(imum)? depth exceeded|depth.*exceeded/i.test(error.message)) return problem('internal', {}, error)
  if (/evaluating caveat|caveat.*evaluat|evaluation error/i.test(error.message)) return new CaveatFailed(error)
  return problem('authz_unavailable', {}, error)
}

/** Translates a failed write of the schema: SchemaRefused if SpiceDB refuses the schema. */
export function schemaRefusal(error: unknown): Error {
  const code = codeOf(error)
  const isRefusal = code === INVALID_ARGUMENT || code === FAILED_PRECONDITION
  return isRefusal && error instanceof Error ? new SchemaRefused(error) : unanswered(error)
}

type Done<T> = (error: Error | null, value?: T) => void

/** Makes a call that has one answer. Rejects with the error of gRPC. */
export function answerTo<T>(start: (done: Done<T>) => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, value) => {
      if (error !== null) reject(error)
      else if (value === undefined) reject(new Error('the call ended without an answer'))
      else resolve(value)
    })
  })
}

/** Reads a stream to its end. Rejects with the error of gRPC. */
export async function wholeStream<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const each of stream) all.push(each)
  return all
}

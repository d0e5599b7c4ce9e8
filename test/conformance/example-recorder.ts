import type { WireAnswer } from './wire.ts'
import { createNormaliser } from './example-normaliser.ts'

/** What one operation was sent and what it answered, normalised. */
export interface Recorded {
  readonly body?: unknown
  readonly answers?: { readonly [status: number]: unknown }
}

/** A call that really was made. */
export interface RecordedCall {
  readonly id: string
  readonly body: unknown
  readonly answer: WireAnswer
}

/** The example of a call, in which ids, instants, keys and secrets are fixed ones. */
export function exampleOf({ id, body, answer }: RecordedCall): Recorded {
  const normalise = createNormaliser()
  const isDocument = answer.json !== undefined && answer.headers['content-type']?.includes('json') === true
  return {
    ...(body !== undefined && { body: normalise(body) }),
    ...(isDocument && id !== 'GetOpenapi' && { answers: { [answer.status]: normalise(answer.json) } }),
  }
}

/** The names of the members at each place, in which two examples must be alike; items of arrays count once, keys of maps do not. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])]
  if (typeof value !== 'object' || value === null) return 'value'
  const members = Object.entries(value).map(([name, member]) => [name, shapeOf(member)] as const)
  return Object.fromEntries(members.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

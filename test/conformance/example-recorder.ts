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

/**
 * Whether two examples have the same members at each place; of lists the first items count. Members that only one of
 * them has may be allowed: both fit the schema, so those are optional ones.
 */
export function isAlike(a: unknown, b: unknown, { mayLack }: { readonly mayLack: boolean }): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    if (a.length === 0 || b.length === 0) return mayLack || a.length === b.length
    return isAlike(a[0], b[0], { mayLack })
  }
  if (!isObject(a) || !isObject(b)) return isObject(a) === isObject(b)
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])]
  return names.every((name) => (name in a && name in b ? isAlike(a[name], b[name], { mayLack }) : mayLack))
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

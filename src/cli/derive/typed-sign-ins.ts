import { usageError } from '../errors/cli-error.ts'
import { parseDuration } from '../argv/duration.ts'
import { pairsFrom } from './typed-sets.ts'

/** The sign-in that an operation needs, as the API takes it. */
interface TypedSignIn {
  readonly acr_values: readonly string[]
  readonly max_age?: number
}

/**
 * Reads `OPERATION=ACR,ACR@AGE` texts: the age is a duration behind the last `@`, and may be left out. The one word `none` is
 * the empty set. Throws a usage error that begins with the flag; which operations and values there are is the server's to judge.
 */
export function signInsFrom(texts: readonly string[], flag: string): Readonly<Record<string, TypedSignIn>> {
  const pairs = Object.entries(pairsFrom(texts, flag))
  return Object.fromEntries(pairs.map(([operation, text]) => [operation, signInFrom(text, flag)]))
}

function signInFrom(text: string, flag: string): TypedSignIn {
  const at = text.lastIndexOf('@')
  const age = at < 0 ? undefined : parseDuration(text.slice(at + 1))
  // An acr value may have an @ of its own: mailto:security@example.com.
  const values = age === undefined ? text : text.slice(0, at)
  const acrValues = values.split(',').map((each) => each.trim())
  if (acrValues.includes(''))
    throw usageError(`${flag} needs OPERATION=ACR,ACR@AGE, such as integrity_acknowledge=mfa@15m, not "${text}"`)
  return { acr_values: acrValues, ...(age !== undefined && { max_age: age }) }
}

import type { ProblemAnswer } from '../../client/failures.ts'
import { shortDuration } from '../argv/duration.ts'
import type { AskedStrength } from '../commands/login/device-login.ts'

/** An `acr` value as the server may name one; others could be anything, and are left out. */
const ACR = /^[!#-[\]-~]{1,256}$/

/** The sign-in that the server asks for (RFC 9470 §3). */
export function requiredSignIn({ document }: ProblemAnswer): AskedStrength {
  const { acr_values: values, max_age: maxAge } = document
  const acrValues = Array.isArray(values) ? values.filter((value) => typeof value === 'string' && ACR.test(value)) : []
  return {
    ...(acrValues.length > 0 && { acrValues }),
    ...(typeof maxAge === 'number' && { maxAgeSeconds: maxAge }),
  }
}

/** What a sign-in must be, for a sentence: `with mfa or phr, no older than 15m`. */
export function requiredWords({ acrValues, maxAgeSeconds }: AskedStrength): string {
  const words = [
    ...(acrValues === undefined ? [] : [`with ${acrValues.join(' or ')}`]),
    ...(maxAgeSeconds === undefined ? [] : [`no older than ${shortDuration(maxAgeSeconds)}`]),
  ]
  return words.length === 0 ? 'of another kind' : words.join(', ')
}

/** The command that signs in that way. */
export function signInCommand({ acrValues, maxAgeSeconds }: AskedStrength): string {
  return [
    'ctl login',
    ...(acrValues === undefined ? [] : [`--acr-values ${quoted(acrValues.join(','))}`]),
    ...(maxAgeSeconds === undefined ? [] : [`--max-age ${maxAgeSeconds}s`]),
  ].join(' ')
}

function quoted(text: string): string {
  return /^[\w.:/,=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

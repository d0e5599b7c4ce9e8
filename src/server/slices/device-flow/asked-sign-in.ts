import { AcrValues } from '../../../shared/contract/sign-in.ts'
import { SIGN_IN_AGE_MAX_MS } from '../../http/auth/recent-sign-in.ts'
import type { DeviceSignIn } from './store.ts'

/** The sign-in that a page asks the provider for. */
export interface AskedSignIn {
  readonly acrValues?: readonly string[]
  readonly maxAgeSeconds?: number
  readonly mustStateTime?: boolean
}

/** Names of the members of an address that ask for a sign-in, as OAuth spells them. */
export const ASKING = { acrValues: 'acr_values', maxAge: 'max_age' } as const

/** The sign-in that a device asks for, as members of an address. */
export function asMembers({ acr_values: values, max_age_seconds: maxAge }: DeviceSignIn): readonly [string, string][] {
  return [
    ...(values.length > 0 ? [[ASKING.acrValues, values.join(' ')] as [string, string]] : []),
    ...(maxAge === null ? [] : [[ASKING.maxAge, String(maxAge)] as [string, string]]),
  ]
}

/** Those members of an address, where they are well formed: anyone can write an address, but only ask for more by it. */
export function askingMembers(query: URLSearchParams): readonly [string, string][] {
  const [values, maxAge] = [query.get(ASKING.acrValues), query.get(ASKING.maxAge)]
  return [
    ...(values !== null && AcrValues.safeParse(values).success ? [[ASKING.acrValues, values] as [string, string]] : []),
    ...(maxAge !== null && /^\d{1,5}$/.test(maxAge) ? [[ASKING.maxAge, maxAge] as [string, string]] : []),
  ]
}

/** What an address asks for. */
export function askedIn(query: URLSearchParams): AskedSignIn {
  const members = new Map(askingMembers(query))
  const [values, maxAge] = [members.get(ASKING.acrValues), members.get(ASKING.maxAge)]
  return {
    ...(values !== undefined && { acrValues: values.split(' ') }),
    ...(maxAge !== undefined && { maxAgeSeconds: Number(maxAge), mustStateTime: true }),
  }
}

/** The same, and recent enough to approve with. */
export function askedRecently(query: URLSearchParams): AskedSignIn {
  const asked = askedIn(query)
  return { ...asked, maxAgeSeconds: Math.min(asked.maxAgeSeconds ?? Infinity, SIGN_IN_AGE_MAX_MS / 1000) }
}

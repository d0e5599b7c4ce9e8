import { createHash, randomBytes } from 'node:crypto'
import type { SealedPlace, Sealing } from '../../ports/keyring.ts'
import type { DemandedSignIn } from './authentication-strength.ts'
import type { Begun } from './store.ts'

/** How long a sign-in may take, from its beginning to the callback. */
export const SIGN_IN_TTL_MS = 10 * 60 * 1000

/** The part of a sign-in that the server stores to verify the provider's answer. */
export interface SignInSecrets extends DemandedSignIn {
  readonly nonce: string
  /** RFC 7636 §4.1. */
  readonly codeVerifier: string
}

/** A new sign-in: what leaves the server, and what it stores. */
export interface Attempt extends SignInSecrets {
  /** Sent through the identity provider and returned. */
  readonly state: string
  /** Sent only in the browser's cookie. */
  readonly browser: string
}

export function newAttempt(demand: DemandedSignIn): Attempt {
  return { state: random(), browser: random(), nonce: random(), codeVerifier: random(), ...demand }
}

/** 256 bits, 43 characters of base64url: as RFC 7636 §4.1 requires of a verifier. */
function random(): string {
  return randomBytes(32).toString('base64url')
}

/** The stored form of a value that only its bearer knows. */
export function hashOf(value: string): Buffer {
  return createHash('sha256').update(value).digest()
}

export async function sealSecrets(sealing: Sealing, attempt: Attempt): Promise<Buffer> {
  const { state, nonce, codeVerifier, acrValues, maxAgeSeconds, mustStateTime } = attempt
  const kept: SignInSecrets = { nonce, codeVerifier, acrValues, maxAgeSeconds, mustStateTime }
  return sealing.seal(placeOf(hashOf(state)), Buffer.from(JSON.stringify(kept)))
}

export async function openSecrets(sealing: Sealing, begun: Begun): Promise<SignInSecrets> {
  const opened = await sealing.open(placeOf(begun.state_hash), begun.sealed)
  // Sealed by `sealSecrets`, and authenticated: nobody else has written it.
  return JSON.parse(opened.toString('utf8')) as SignInSecrets
}

/** Where the secrets of a sign-in are sealed. */
export function placeOf(stateHash: Buffer): SealedPlace {
  return { table: 'sign_ins', column: 'sealed', rowId: stateHash.toString('hex') }
}

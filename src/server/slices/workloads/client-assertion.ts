import { isNonZeroUuid } from '../../../shared/ids.ts'
import { keyIdOf, type StoredKey } from './public-key.ts'
import { AssertionRefused } from './refusal.ts'
import type { ServiceIdentity } from './store.ts'
import { claimedSubject, headerOf, verifyAssertion, type AssertionRules, type Verified } from './verify-assertion.ts'

/** `exp` is at most this far ahead (decisions: Service identity). */
export const ASSERTION_SECONDS_MAX = 300

/** The second one is required by the revision of RFC 7523. */
const TYPES = ['jwt', 'client-authentication+jwt']

/** The claimed issuer of an assertion, before it is verified. @throws AssertionRefused */
export function claimedIdentity(assertion: string): string {
  headerOf(assertion, TYPES)
  const sub = claimedSubject(assertion)
  if (typeof sub !== 'string' || !isNonZeroUuid(sub))
    throw new AssertionRefused('its sub is no id of a service identity')
  return sub
}

/**
 * Verifies the assertion of a service identity that authenticates with a key of its own (`private_key_jwt`, RFC 7523
 * §3): signed with the stored key that its `kid` names, `iss` and `sub` the identity, and with a `jti`.
 *
 * @throws AssertionRefused
 */
export async function verifyClientAssertion(
  assertion: string,
  identity: ServiceIdentity,
  rules: Omit<AssertionRules, 'lifetimeSecondsMax'>,
): Promise<Verified> {
  const { kid } = headerOf(assertion, TYPES)
  const key = await keyNamed(kid, identity.keys)
  const verified = await verifyAssertion(assertion, key, { ...rules, lifetimeSecondsMax: ASSERTION_SECONDS_MAX })
  if (verified.subject !== identity.id || verified.issuer !== identity.id) {
    throw new AssertionRefused('its iss and sub are not both the id of the identity')
  }
  if (verified.jti === undefined) throw new AssertionRefused('it has no jti')
  return verified
}

/** Without a `kid` the only key is used (OpenID Connect Core §10.1). */
async function keyNamed(kid: unknown, keys: readonly StoredKey[]): Promise<StoredKey> {
  const [only] = keys
  if (only === undefined) throw new AssertionRefused('the identity has no key')
  if (kid === undefined && keys.length === 1) return only
  for (const key of keys) if ((await keyIdOf(key)) === kid) return key
  throw new AssertionRefused(kid === undefined ? 'it has no kid' : 'the identity has no key with its kid')
}

import type { StoredKey } from './public-key.ts'
import { AssertionRefused } from './refusal.ts'
import type { TrustedIdentity } from './store.ts'
import { SVID_ALGORITHM } from './trust-bundle.ts'
import { claimedSubject, headerOf, verifyAssertion, type AssertionRules, type Verified } from './verify-assertion.ts'

/** Issuers decide the lifetime of JWT-SVIDs; one of more than a day is not accepted as a workload credential. */
const SVID_SECONDS_MAX = 86_400

const TYPES = ['jwt', 'jose']

const SPIFFE_ID = /^spiffe:\/\/([a-z0-9._-]{1,255})(\/[A-Za-z0-9._-]+)*$/

/** The claimed identity of a JWT-SVID, before it is verified. */
export interface ClaimedWorkload {
  readonly spiffeId: string
  readonly trustDomain: string
}

/** Reads the SPIFFE ID that a JWT-SVID claims. @throws AssertionRefused */
export function claimedWorkload(svid: string): ClaimedWorkload {
  headerOf(svid, TYPES)
  const sub = claimedSubject(svid)
  const spiffeId = typeof sub === 'string' && sub.length <= 2048 ? sub : ''
  const [, trustDomain] = SPIFFE_ID.exec(spiffeId) ?? []
  if (trustDomain === undefined) throw new AssertionRefused('its sub is no SPIFFE ID')
  return { spiffeId, trustDomain }
}

/** The identity that a JWT-SVID was verified for. */
export interface VerifiedWorkload extends Verified {
  readonly identity: TrustedIdentity
}

/**
 * Verifies a JWT-SVID against the trust bundles of the Domains that have an identity for its SPIFFE ID, each with its own
 * keys only: the trust of one Domain does not extend to another. A JWT-SVID that several Domains accept is refused; the caller
 * must name the identity.
 *
 * @throws AssertionRefused
 */
export async function verifyJwtSvid(
  svid: string,
  identities: readonly TrustedIdentity[],
  rules: Omit<AssertionRules, 'lifetimeSecondsMax'>,
): Promise<VerifiedWorkload> {
  const refusals: AssertionRefused[] = []
  const believed: VerifiedWorkload[] = []
  for (const identity of identities) {
    const outcome = await tried(svid, identity, rules)
    if (outcome instanceof AssertionRefused) refusals.push(outcome)
    else believed.push({ ...outcome, identity })
  }
  const [only, ...others] = believed
  if (only === undefined) throw refusals[0] ?? new AssertionRefused('no identity has its SPIFFE ID and a trust bundle')
  if (others.length > 0) throw new AssertionRefused('several Domains have an identity for it, and client_id names none')
  return only
}

async function tried(
  svid: string,
  { bundleKeys, spiffeId }: TrustedIdentity,
  rules: Omit<AssertionRules, 'lifetimeSecondsMax'>,
): Promise<Verified | AssertionRefused> {
  try {
    const key = keyNamed(svid, bundleKeys)
    const verified = await verifyAssertion(svid, key, { ...rules, lifetimeSecondsMax: SVID_SECONDS_MAX })
    return verified.subject === spiffeId ? verified : new AssertionRefused('its sub is another')
  } catch (error) {
    if (error instanceof AssertionRefused) return error
    throw error
  }
}

function keyNamed(svid: string, keys: readonly StoredKey[]): StoredKey {
  const { kid, alg } = headerOf(svid, TYPES)
  if (kid === undefined) throw new AssertionRefused('it has no kid')
  if (typeof alg !== 'string' || !SVID_ALGORITHM.test(alg))
    throw new AssertionRefused('its algorithm is none for JWT-SVIDs')
  const key = keys.find((candidate) => candidate['kid'] === kid)
  if (key === undefined) throw new AssertionRefused('the trust bundle has no key with its kid')
  return key
}

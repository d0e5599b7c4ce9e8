import { createHash } from 'node:crypto'
import { compactVerify, decodeJwt, decodeProtectedHeader, errors, type CryptoKey } from 'jose'
import { Problem, problem } from '../../../shared/problems.ts'
import { isStorableText } from '../../http/unsafe-text.ts'
import { NOTED_EVERY_MS, type LastUses } from '../../http/auth/last-uses.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Caller, CredentialResolver, Refusal } from '../../ports/credential-resolver.ts'
import { isUnavailable, type Datastore } from '../../ports/datastore.ts'
import type { IdpBinding, IdpBindings } from '../../ports/idp-bindings.ts'
import type { Issuers } from '../../ports/issuers.ts'
import type { Keyring } from '../../ports/keyring.ts'
import type { ServiceIdentities } from '../../ports/service-identities.ts'
import type { Users } from '../../ports/users.ts'
import { algorithmsOf, audiencesOf, judge, type PresentedJwt, type TokenFacts } from './access-token.ts'
import { createLeaseCache, type Known } from './lease-cache.ts'
import { findSharedDomain } from './store.ts'

export interface BearerJwtResolverDeps {
  readonly datastore: Datastore
  readonly keyring: Pick<Keyring, 'cacheKey'>
  readonly clock: Clock
  readonly bindings: Pick<IdpBindings, 'ofIssuer'>
  readonly issuers: Pick<Issuers, 'key'>
  readonly users: Pick<Users, 'find'>
  readonly workloads: ServiceIdentities
  /** Called with the service identities that authenticate. */
  readonly workloadSignIns: Pick<LastUses, 'note'>
  /** Maximum of cached verified tokens. */
  readonly cachedMax?: number
}

/** Three parts (RFC 7515 §3.1); the last one is empty in an unsigned token. */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/
const JWT_LENGTH_MAX = 8192
/** Time after which tokens of a key that its issuer withdrew are no longer accepted, even if they were verified before. */
const VERIFIED_MS = 600_000

const refusal = (sentence: string): Refusal => ({ refused: true, log: `bearer JWT: ${sentence}` })
const EXPIRED = refusal('it has expired')
const TOO_LONG = refusal('it is too long')

/** A refusal by one of the rules. */
class Refused extends Error {}

function refuse(sentence: string): never {
  throw new Refused(sentence)
}

/** The owner of a token. */
interface Owner {
  readonly kind: 'user' | 'service-identity'
  readonly id: string
  readonly domainId: string
  readonly displayName: string
}

/**
 * Resolves access tokens of the identity providers that Domains are bound to, as the user or the service identity that
 * issuer and subject name. The owner must exist: no identity is created here. Verified tokens are cached until they
 * expire; binding and owner are read again every second.
 */
export function createBearerJwtResolver({
  datastore,
  keyring,
  clock,
  bindings,
  issuers,
  users,
  workloads,
  workloadSignIns,
  cachedMax = 10_000,
}: BearerJwtResolverDeps): CredentialResolver {
  const cache = createLeaseCache(clock, cachedMax)
  const flights = new Map<string, Promise<Caller | Refusal>>()
  const db = () => datastore.pool('interactive')

  async function bindingOf(jwt: PresentedJwt): Promise<IdpBinding> {
    const { iss } = jwt.claims
    if (typeof iss !== 'string') return refuse('it has no issuer')
    const audiences = audiencesOf(jwt)
    if (![iss, ...audiences].every(isStorableText)) return refuse('its issuer or audience is no text')
    const [binding, ...others] = await bindings.ofIssuer(db(), { issuer: iss, audiences })
    if (binding === undefined) return refuse('no binding takes its issuer and audience')
    return others.length === 0 ? binding : refuse('its audiences belong to several bindings')
  }

  async function ownerOf({ subject, domain }: TokenFacts, binding: IdpBinding): Promise<Owner> {
    const domainId = binding.domainId ?? (domain === undefined ? undefined : await findSharedDomain(db(), domain))
    if (domainId === undefined) return refuse('it names no Domain that the shared binding speaks for')
    const external = { issuer: binding.issuer, subject }
    const user = await users.find(db(), domainId, external)
    if (user !== undefined) return user.isDisabled ? refuse('its user is disabled') : { ...user, kind: 'user' }
    const workload = await workloads.find(db(), domainId, external)
    if (workload === undefined) {
      return refuse('nobody with its subject has signed in to the Domain, and no service identity has its subject')
    }
    return workload.isDisabled ? refuse('its service identity is disabled') : { ...workload, kind: 'service-identity' }
  }

  /** When the sign-in of a service identity was last recorded, including this time. */
  function noted({ kind, id }: Owner, lastMs: number | undefined): number | undefined {
    if (kind === 'user') return undefined
    const nowMs = clock.now()
    if (lastMs !== undefined && nowMs - lastMs < NOTED_EVERY_MS) return lastMs
    workloadSignIns.note(id, nowMs)
    return nowMs
  }

  async function keyOf(binding: IdpBinding, { alg, kid }: PresentedJwt['header']): Promise<CryptoKey | Uint8Array> {
    try {
      // Other key members of the header are dropped: a key never comes from the token itself.
      return await issuers.key(binding, { alg: String(alg), ...(typeof kid === 'string' && { kid }) })
    } catch (error) {
      if (error instanceof Problem) return refuse(`the keys of its issuer cannot be had (${error.code})`)
      if (error instanceof errors.JOSEError) return refuse(`its issuer has no key for it: ${error.message}`)
      throw error
    }
  }

  /** With `known`, the signature is not verified again. */
  async function examine(presented: string, known: Known | undefined): Promise<Known> {
    const nowMs = clock.now()
    const jwt = known?.jwt ?? decoded(presented)
    const binding = await bindingOf(jwt)
    const facts = judge(jwt, binding, nowMs)
    if (typeof facts === 'string') return refuse(facts)
    if (known === undefined) await verifySignature(presented, await keyOf(binding, jwt.header), binding)
    const owner = await ownerOf(facts, binding)
    return {
      jwt,
      caller: callerOf(presented, facts, owner),
      expiresAtMs: facts.expiresAtMs,
      verifiedMs: known?.verifiedMs ?? nowMs,
      confirmedMs: nowMs,
      notedMs: noted(owner, known?.notedMs),
    }
  }

  async function load(presented: string, key: string, known: Known | undefined): Promise<Caller | Refusal> {
    try {
      const answer = await settled(examine(presented, known))
      cache.keep(key, answer)
      return 'refused' in answer ? answer : answer.caller
    } finally {
      flights.delete(key)
    }
  }

  /** Concurrent requests with the same token share one look-up. */
  function loadOnce(presented: string, key: string, known: Known | undefined): Promise<Caller | Refusal> {
    const underWay = flights.get(key)
    if (underWay !== undefined) return underWay
    const flight = load(presented, key, known)
    flights.set(key, flight)
    return flight
  }

  function recall(presented: string): Caller | Refusal | undefined {
    if (presented.length > JWT_LENGTH_MAX) return TOO_LONG
    const key = keyring.cacheKey(presented)
    const found = cache.get(key)
    if (found === undefined || 'refused' in found) return found
    if (found.known.expiresAtMs <= clock.now()) {
      cache.drop(key)
      return EXPIRED
    }
    return found.state === 'leased' ? found.known.caller : undefined
  }

  function lookUp(presented: string): Promise<Caller | Refusal> {
    const key = keyring.cacheKey(presented)
    const found = cache.get(key)
    const known = found === undefined || 'refused' in found ? undefined : found.known
    const isVerified = known !== undefined && clock.now() - known.verifiedMs < VERIFIED_MS
    return loadOnce(presented, key, isVerified ? known : undefined)
  }

  function resolveStale(presented: string, withinMs: number): Caller | undefined {
    const found = cache.get(keyring.cacheKey(presented))
    if (found === undefined || 'refused' in found) return undefined
    const { caller, confirmedMs, expiresAtMs } = found.known
    const nowMs = clock.now()
    return nowMs - confirmedMs > withinMs || expiresAtMs <= nowMs ? undefined : { ...caller, staleSinceMs: confirmedMs }
  }

  return {
    kind: 'oidc-jwt',
    // Other credentials contain no dot; that check is faster than the pattern.
    recognizes: (presented) => presented.includes('.') && JWT.test(presented),
    recall,
    resolve: (presented) => recall(presented) ?? lookUp(presented),
    resolveStale: (presented, withinMs) =>
      presented.length > JWT_LENGTH_MAX ? undefined : resolveStale(presented, withinMs),
  }
}

function decoded(presented: string): PresentedJwt {
  try {
    return { header: { ...decodeProtectedHeader(presented) }, claims: decodeJwt(presented) }
  } catch {
    return refuse('it is no JWT')
  }
}

async function verifySignature(presented: string, key: CryptoKey | Uint8Array, binding: IdpBinding): Promise<void> {
  if (key instanceof Uint8Array) return refuse('its key is symmetric')
  try {
    await compactVerify(presented, key, { algorithms: [...algorithmsOf(binding)] })
  } catch (error) {
    refuse(error instanceof Error ? error.message : 'its signature cannot be verified')
  }
}

/** @throws Problem `datastore_unavailable` */
async function settled(examined: Promise<Known>): Promise<Known | Refusal> {
  try {
    return await examined
  } catch (error) {
    if (error instanceof Refused) return refusal(error.message)
    if (isUnavailable(error)) throw problem('datastore_unavailable', {}, error)
    throw error
  }
}

function callerOf(presented: string, { jti, acr, authTimeMs, expiresAtMs }: TokenFacts, owner: Owner): Caller {
  const id = jti ?? createHash('sha256').update(presented).digest('hex').slice(0, 32)
  return {
    subject: `${owner.kind === 'user' ? 'user' : 'serviceaccount'}:${owner.id}`,
    kind: owner.kind,
    id: owner.id,
    domainId: owner.domainId,
    displayName: owner.displayName,
    credential: { kind: 'oidc-jwt', id, scopes: ['*'], expiresAtMs },
    ...(acr !== undefined && { acr }),
    ...(authTimeMs !== undefined && { authTimeMs }),
  }
}

import { createCachedResolver, type CachedResolverDeps, type FoundCredential } from '../../http/auth/cached-resolver.ts'
import type { CredentialResolver, Refusal } from '../../ports/credential-resolver.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { SESSION_COOKIE, SESSION_IDLE_MS } from '../../ports/sessions.ts'
import { fingerprintOf, isCookieValue } from './cookie-value.ts'
import { findByFingerprint, type SessionWithPerson } from './store.ts'

export interface SessionResolverDeps extends CachedResolverDeps {
  readonly datastore: Datastore
}

const refusal = (log: string): Refusal => ({ refused: true, log })
const NO_COOKIE = refusal('not a session cookie: its form is wrong')
const UNKNOWN = refusal('unknown or ended session')
const EXPIRED = refusal('expired session')
const IDLE = refusal('idle session')
const DISABLED = refusal('session of a disabled user')

/** Resolves the cookies of browser sessions. Both ends of its life are compared with the clock on every use; the idle one counts from the use before. */
export function createSessionResolver({ datastore, ...deps }: SessionResolverDeps): CredentialResolver {
  async function read(cookie: string): Promise<FoundCredential | Refusal> {
    const found = await findByFingerprint(datastore.pool('interactive'), fingerprintOf(cookie))
    if (found === undefined) return UNKNOWN
    return found.disabled_at === null ? credentialOf(found) : DISABLED
  }

  return createCachedResolver(deps, {
    kind: 'session',
    cookie: SESSION_COOKIE,
    recognizes: isCookieValue,
    refuse: (cookie) => (isCookieValue(cookie) ? undefined : NO_COOKIE),
    lead: (cookie) => ({ credentialId: undefined, read: () => read(cookie) }),
    endOf,
    // Another replica may have recorded a later use: the row has it.
    revisable: IDLE,
  })
}

function endOf({ caller, usedMs }: FoundCredential, nowMs: number): Refusal | undefined {
  const { expiresAtMs } = caller.credential
  if (expiresAtMs !== undefined && expiresAtMs <= nowMs) return EXPIRED
  return usedMs <= nowMs - SESSION_IDLE_MS ? IDLE : undefined
}

function credentialOf(session: SessionWithPerson): FoundCredential {
  return {
    usedMs: session.last_seen_at.getTime(),
    caller: {
      subject: `user:${session.principal_id}`,
      kind: 'user',
      id: session.principal_id,
      domainId: session.domain_id,
      displayName: session.display_name,
      credential: { kind: 'session', id: session.id, scopes: ['*'], expiresAtMs: session.expires_at.getTime() },
      ...(session.acr !== null && { acr: session.acr }),
      authTimeMs: session.auth_time.getTime(),
      ...(!session.auth_time_stated && { isAuthTimeAssumed: true }),
    },
  }
}

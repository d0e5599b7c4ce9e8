import { createCredentialCache, type CachedCredential } from '../http/credential-cache.ts'
import { lookUp } from '../http/credential-look-up.ts'
import { NOTED_EVERY_MS, type LastUses } from '../http/last-uses.ts'
import type { ChangeFeed } from '../ports/change-feed.ts'
import type { Clock } from '../ports/clock.ts'
import type { Caller, CredentialResolver, Refusal } from '../ports/credential-resolver.ts'
import type { Datastore } from '../ports/datastore.ts'
import type { Keyring } from '../ports/keyring.ts'
import { SESSION_COOKIE, SESSION_IDLE_MS } from '../ports/sessions.ts'
import { fingerprintOf, isCookieValue } from './cookie-value.ts'
import { findByFingerprint, type SessionWithPerson } from './store.ts'

export interface SessionResolverDeps {
  readonly datastore: Datastore
  readonly keyring: Keyring
  readonly changeFeed: ChangeFeed
  readonly clock: Clock
  readonly lastUses: LastUses
  /** Sessions kept resolved. */
  readonly cachedMax?: number
  /** How long, in ms, a session that was confirmed may stand in for itself while it cannot be; never by default. */
  readonly staleMs?: number
}

interface Entry extends CachedCredential {
  readonly caller: Caller
  readonly expiresAtMs: number
  /** When it was seen last, as far as this process knows: the row may be a minute behind. */
  seenMs: number
  /** When that was noted last. */
  notedMs: number
}

const refusal = (log: string): Refusal => ({ refused: true, log })
const NO_COOKIE = refusal('not a session cookie: its form is wrong')
const UNKNOWN = refusal('unknown or ended session')
const EXPIRED = refusal('expired session')
const IDLE = refusal('idle session')
const DISABLED = refusal('session of a disabled user')

/**
 * Resolves the cookies of browser sessions. One that was seen lately costs a digest and a look into a map. Both ends of
 * its life are compared with the clock on every use; the idle one counts from the use before.
 */
export function createSessionResolver({
  datastore,
  keyring,
  changeFeed,
  clock,
  lastUses,
  cachedMax = 10_000,
  staleMs = 0,
}: SessionResolverDeps): CredentialResolver {
  const cache = createCredentialCache<Entry>({ kind: 'session', changeFeed, clock, entriesMax: cachedMax })

  async function read(cookie: string): Promise<Entry | Refusal> {
    const found = await lookUp(() => findByFingerprint(datastore.pool('interactive'), fingerprintOf(cookie)))
    if (found === undefined) return UNKNOWN
    return found.disabled_at === null ? toEntry(found) : DISABLED
  }

  function use(entry: Entry, key: string): Caller | Refusal {
    const nowMs = clock.now()
    const ended = endOf(entry, nowMs)
    if (ended !== undefined) {
      cache.drop(key)
      return ended
    }
    entry.seenMs = nowMs
    if (nowMs - entry.notedMs >= NOTED_EVERY_MS) {
      entry.notedMs = nowMs
      lastUses.note(entry.credentialId, nowMs)
    }
    return entry.caller
  }

  async function load(cookie: string, key: string): Promise<Caller | Refusal> {
    const answer = await cache.load(key, undefined, () => read(cookie))
    return 'refused' in answer ? answer : use(answer, key)
  }

  /** Only while the feed is not fresh: what is fresh needs nothing to stand in for it. */
  function useStale(key: string): Caller | undefined {
    const known = cache.stale(key)
    const nowMs = clock.now()
    if (known === undefined || changeFeed.isFresh()) return undefined
    const { entry, freshMs } = known
    return nowMs - freshMs > staleMs || endOf(entry, nowMs) !== undefined
      ? undefined
      : { ...entry.caller, staleSinceMs: freshMs }
  }

  return {
    kind: 'session',
    cookie: SESSION_COOKIE,
    recognizes: isCookieValue,
    resolve(cookie) {
      if (!isCookieValue(cookie)) return NO_COOKIE
      const key = keyring.cacheKey(cookie)
      const known = cache.get(key)
      if (known === undefined) return load(cookie, key)
      if ('refused' in known) return known
      // Another replica may have seen it since: the row knows.
      if (endOf(known, clock.now()) === IDLE) {
        cache.drop(key)
        return load(cookie, key)
      }
      return use(known, key)
    },
    resolveStale: (cookie) => (staleMs === 0 ? undefined : useStale(keyring.cacheKey(cookie))),
  }
}

function endOf({ expiresAtMs, seenMs }: Entry, nowMs: number): Refusal | undefined {
  if (expiresAtMs <= nowMs) return EXPIRED
  return seenMs <= nowMs - SESSION_IDLE_MS ? IDLE : undefined
}

function toEntry(session: SessionWithPerson): Entry {
  const seenMs = session.last_seen_at.getTime()
  const expiresAtMs = session.expires_at.getTime()
  return {
    credentialId: session.id,
    expiresAtMs,
    seenMs,
    notedMs: seenMs,
    caller: {
      subject: `user:${session.principal_id}`,
      kind: 'user',
      id: session.principal_id,
      domainId: session.domain_id,
      displayName: session.display_name,
      credential: { kind: 'session', id: session.id, scopes: ['*'], expiresAtMs },
      ...(session.acr !== null && { acr: session.acr }),
      authTimeMs: session.auth_time.getTime(),
    },
  }
}

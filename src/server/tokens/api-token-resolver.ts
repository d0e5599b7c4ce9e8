import { timingSafeEqual } from 'node:crypto'
import { parseApiToken } from '../../shared/credential-formats.ts'
import { createCredentialCache, type CachedCredential } from '../http/credential-cache.ts'
import { lookUp } from '../http/credential-look-up.ts'
import { NOTED_EVERY_MS, type LastUses } from '../http/last-uses.ts'
import type { ChangeFeed } from '../ports/change-feed.ts'
import type { Clock } from '../ports/clock.ts'
import type { Caller, CredentialResolver, Refusal } from '../ports/credential-resolver.ts'
import type { Datastore } from '../ports/datastore.ts'
import type { Keyring } from '../ports/keyring.ts'
import { ownerReference } from './owner.ts'
import { findCredential, type CredentialRecord } from './store.ts'

export interface ApiTokenResolverDeps {
  readonly datastore: Datastore
  readonly keyring: Keyring
  readonly changeFeed: ChangeFeed
  readonly clock: Clock
  readonly lastUses: LastUses
  /** Tokens kept resolved. */
  readonly cachedMax?: number
  /** How long, in ms, a token that was confirmed may stand in for itself while it cannot be; never by default. */
  readonly staleMs?: number
}

interface Entry extends CachedCredential {
  readonly caller: Caller
  readonly expiresAtMs: number
  /** When its use was noted last. */
  notedMs: number
}

const TOKEN_LENGTH_MAX = 'psk__'.length + 16 + 32 + '_'.length + 49

const refusal = (log: string): Refusal => ({ refused: true, log })
const NO_TOKEN = refusal('not an API token: its form or checksum is wrong')
const UNKNOWN = refusal('unknown API token')
const REVOKED = refusal('revoked API token')
const EXPIRED = refusal('expired API token')

/**
 * Resolves API tokens. One that was seen lately costs a digest and a look into a map; any other is checked for its form
 * and checksum first and then read from the datastore. Expiry is compared with the clock on every use.
 */
export function createApiTokenResolver({
  datastore,
  keyring,
  changeFeed,
  clock,
  lastUses,
  cachedMax = 10_000,
  staleMs = 0,
}: ApiTokenResolverDeps): CredentialResolver {
  const cache = createCredentialCache<Entry>({ kind: 'api-token', changeFeed, clock, entriesMax: cachedMax })

  async function read(presented: string, id: string): Promise<Entry | Refusal> {
    const record = await lookUp(() => findCredential(datastore.pool('interactive'), id))
    if (record === undefined || !isSame(keyring, presented, record)) return UNKNOWN
    return record.revoked_at === null ? toEntry(record) : REVOKED
  }

  function use(entry: Entry, key: string): Caller | Refusal {
    const nowMs = clock.now()
    if (entry.expiresAtMs <= nowMs) {
      cache.drop(key)
      return EXPIRED
    }
    if (nowMs - entry.notedMs >= NOTED_EVERY_MS) {
      entry.notedMs = nowMs
      lastUses.note(entry.credentialId, nowMs)
    }
    return entry.caller
  }

  async function load(presented: string, key: string): Promise<Caller | Refusal> {
    const fields = parseApiToken(presented)
    if (fields === undefined) return NO_TOKEN
    const answer = await cache.load(key, fields.id, () => read(presented, fields.id))
    return 'refused' in answer ? answer : use(answer, key)
  }

  /** Only while the feed is not fresh: what is fresh needs nothing to stand in for it. */
  function useStale(key: string): Caller | undefined {
    const known = cache.stale(key)
    const nowMs = clock.now()
    if (known === undefined || changeFeed.isFresh()) return undefined
    const { entry, freshMs } = known
    return nowMs - freshMs > staleMs || entry.expiresAtMs <= nowMs
      ? undefined
      : { ...entry.caller, staleSinceMs: freshMs }
  }

  return {
    kind: 'api-token',
    recognizes: (presented) => presented.startsWith('psk_'),
    resolve(presented) {
      if (presented.length > TOKEN_LENGTH_MAX) return NO_TOKEN
      const key = keyring.cacheKey(presented)
      const known = cache.get(key)
      if (known === undefined) return load(presented, key)
      return 'refused' in known ? known : use(known, key)
    },
    resolveStale: (presented) =>
      staleMs === 0 || presented.length > TOKEN_LENGTH_MAX ? undefined : useStale(keyring.cacheKey(presented)),
  }
}

/** Whether the text is the stored token's: the id in it is only where to look. */
function isSame(keyring: Keyring, presented: string, record: CredentialRecord): boolean {
  const mac = keyring.macWith('fingerprint', record.fingerprint_key_id, presented)
  return mac !== undefined && mac.length === record.fingerprint.length && timingSafeEqual(mac, record.fingerprint)
}

function toEntry(record: CredentialRecord): Entry {
  const { id, owner_id: ownerId, owner_kind: kind } = record
  const expiresAtMs = record.expires_at.getTime()
  return {
    credentialId: id,
    expiresAtMs,
    notedMs: record.last_used_at?.getTime() ?? Number.NEGATIVE_INFINITY,
    caller: {
      subject: ownerReference({ id: ownerId, kind }),
      kind,
      id: ownerId,
      domainId: record.domain_id,
      displayName: record.display_name,
      credential: { kind: 'api-token', id, scopes: record.scopes, expiresAtMs },
    },
  }
}

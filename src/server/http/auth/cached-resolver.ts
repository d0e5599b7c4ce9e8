import type { ChangeFeed, ChangedCredential } from '../../ports/change-feed.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Caller, CredentialResolver, Refusal } from '../../ports/credential-resolver.ts'
import type { Keyring } from '../../ports/keyring.ts'
import { createCredentialCache, type CachedCredential } from './credential-cache.ts'
import { lookUp } from './credential-look-up.ts'
import { NOTED_EVERY_MS, type LastUses } from './last-uses.ts'

export interface CachedResolverDeps {
  readonly keyring: Pick<Keyring, 'cacheKey'>
  readonly changeFeed: ChangeFeed
  readonly clock: Clock
  readonly lastUses: LastUses
  /** Resolved credentials that are cached. */
  readonly cachedMax?: number
}

/** A valid credential. */
export interface FoundCredential {
  readonly caller: Caller
  /** When it was used last, in ms, as far as the datastore knows. */
  readonly usedMs: number
}

/** The result for a presented text. */
export interface Lead {
  /** Undefined where only the datastore knows it. */
  readonly credentialId: string | undefined
  /** Reads the credential from the datastore. It does not check the expiry. */
  readonly read: () => Promise<FoundCredential | Refusal>
}

/** What differs between kinds of cached credentials. */
export interface CachedKind extends Pick<CredentialResolver, 'cookie'> {
  readonly kind: ChangedCredential['kind']
  readonly recognizes: (presented: string) => boolean
  /** Rejects malformed text before a digest is computed. */
  readonly refuse: (presented: string) => Refusal | undefined
  /** Called for credentials that are not cached. Rejects malformed credentials without a query, and does not cache them. */
  readonly lead: (presented: string) => Lead | Refusal
  /** Checked on every use: the reason why the credential has ended, if it has. */
  readonly endOf: (credential: FoundCredential, nowMs: number) => Refusal | undefined
  /** An expiry that another replica may have extended: a cached credential that reached it is read again. */
  readonly revisable?: Refusal
}

interface Entry extends FoundCredential, CachedCredential {
  usedMs: number
  /** When a use was recorded last. */
  notedMs: number
}

/**
 * Resolves one kind of credential. A cached one costs a digest and a map lookup while the change feed
 * is fresh; any other is read from the datastore, once for all who present it at the same time.
 */
export function createCachedResolver(
  { keyring, changeFeed, clock, lastUses, cachedMax = 10_000 }: CachedResolverDeps,
  { kind, cookie, recognizes, refuse, lead, endOf, revisable }: CachedKind,
): CredentialResolver {
  const cache = createCredentialCache<Entry>({ kind, changeFeed, clock, entriesMax: cachedMax })

  function use(entry: Entry, nowMs: number): Caller {
    entry.usedMs = nowMs
    if (nowMs - entry.notedMs >= NOTED_EVERY_MS) {
      entry.notedMs = nowMs
      lastUses.note(entry.credentialId, nowMs)
    }
    return entry.caller
  }

  /** An ended credential is cached as a refusal: a script that keeps using it costs one query a second. */
  async function read(led: Lead): Promise<Entry | Refusal> {
    const found = await lookUp(led.read)
    if ('refused' in found) return found
    const entry = { ...found, credentialId: found.caller.credential.id, notedMs: found.usedMs }
    return endOf(entry, clock.now()) ?? entry
  }

  async function load(presented: string, key: string): Promise<Caller | Refusal> {
    const led = lead(presented)
    if ('refused' in led) return led
    const answer = await cache.load(key, led.credentialId, () => read(led))
    if ('refused' in answer) return answer
    const nowMs = clock.now()
    return ended(answer, key, nowMs) ?? use(answer, nowMs)
  }

  function ended(entry: Entry, key: string, nowMs: number): Refusal | undefined {
    const end = endOf(entry, nowMs)
    if (end !== undefined) cache.drop(key)
    return end
  }

  /** Only while the feed is not fresh: a fresh feed needs no substitute. */
  function useStale(key: string, withinMs: number): Caller | undefined {
    const known = cache.stale(key)
    const nowMs = clock.now()
    if (known === undefined || changeFeed.isFresh()) return undefined
    const { entry, freshMs } = known
    return nowMs - freshMs > withinMs || endOf(entry, nowMs) !== undefined
      ? undefined
      : { ...entry.caller, staleSinceMs: freshMs }
  }

  function recall(presented: string): Caller | Refusal | undefined {
    const refused = refuse(presented)
    if (refused !== undefined) return refused
    const key = keyring.cacheKey(presented)
    const known = cache.get(key)
    if (known === undefined || 'refused' in known) return known
    const nowMs = clock.now()
    const end = ended(known, key, nowMs)
    if (end === undefined) return use(known, nowMs)
    return end === revisable ? undefined : end
  }

  const resolve = (presented: string): Caller | Refusal | Promise<Caller | Refusal> =>
    recall(presented) ?? load(presented, keyring.cacheKey(presented))

  return {
    kind,
    ...(cookie !== undefined && { cookie }),
    recognizes,
    recall,
    resolve: (presented) =>
      changeFeed.isFresh() ? resolve(presented) : changeFeed.untilFresh().then(() => resolve(presented)),
    resolveStale: (presented, withinMs) =>
      refuse(presented) === undefined ? useStale(keyring.cacheKey(presented), withinMs) : undefined,
  }
}

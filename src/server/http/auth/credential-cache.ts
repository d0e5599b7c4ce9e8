import { createSecondChanceMap } from '../../../shared/second-chance-map.ts'
import type { ChangedCredential, ChangeFeed } from '../../ports/change-feed.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Refusal } from '../../ports/credential-resolver.ts'
import { createRecentRefusals } from './recent-refusals.ts'

/** The cached result of a resolved credential. */
export interface CachedCredential {
  /** The id that `credential_changed` names. */
  readonly credentialId: string
}

export interface CredentialCacheOptions {
  /** The changes of credentials that concern this cache. */
  readonly kind: ChangedCredential['kind']
  readonly changeFeed: ChangeFeed
  readonly clock: Clock
  /** Maximum of cached credentials; beyond it the least recently used ones are evicted. */
  readonly entriesMax: number
}

/** Reads a credential from the datastore. */
export type ReadCredential<Entry> = () => Promise<Entry | Refusal>

/**
 * Credentials of one kind by a digest of the presented text, never by the text itself.
 * An entry is dropped when the change feed names its credential, and is used only while the feed is fresh
 * (decisions: Consistency), so a revoked credential ends within a second even on a replica that was cut off.
 * Refusals are kept for a second, so that a flood of one bad credential costs one query a second.
 */
export interface CredentialCache<Entry extends CachedCredential> {
  /** The cached result that may be used now. The caller checks what depends on the time. */
  get(key: string): Entry | Refusal | undefined
  /** Reads the credential, once for all concurrent callers, and caches the answer. Its id is undefined where only the datastore knows. */
  load(key: string, credentialId: string | undefined, read: ReadCredential<Entry>): Promise<Entry | Refusal>
  /** The result from when the feed was last fresh, with that time in ms; the caller decides whether it is recent enough. */
  stale(key: string): { readonly entry: Entry; readonly freshMs: number } | undefined
  drop(key: string): void
}

interface Flight<Entry> {
  readonly credentialId: string | undefined
  readonly answer: Promise<Entry | Refusal>
}

export function createCredentialCache<Entry extends CachedCredential>({
  kind,
  changeFeed,
  clock,
  entriesMax,
}: CredentialCacheOptions): CredentialCache<Entry> {
  const keys = new Map<string, string>()
  const entries = createSecondChanceMap<Entry>(entriesMax, (_, { credentialId }) => keys.delete(credentialId))
  const flights = new Map<string, Flight<Entry>>()
  const refusals = createRecentRefusals(clock)
  /** Every entry is as good as the feed: what was revoked by then is no longer here. */
  let freshMs = Number.NEGATIVE_INFINITY

  changeFeed.subscribe(
    (change) => {
      if (change.kind === 'credential_changed' && change.payload.kind === kind) forget(change.payload.id)
    },
    async () => forgetAll(),
  )

  /** A result read before the change must be neither cached nor given to later callers. Any pending read may be such a one. */
  function forget(credentialId: string): void {
    dropCredential(credentialId)
    for (const [key, flight] of flights) {
      if (flight.credentialId === undefined || flight.credentialId === credentialId) flights.delete(key)
    }
  }

  function forgetAll(): void {
    entries.clear()
    keys.clear()
    flights.clear()
  }

  function dropCredential(credentialId: string): void {
    const key = keys.get(credentialId)
    if (key !== undefined) drop(key)
  }

  function drop(key: string): void {
    const entry = entries.peek(key)
    if (entry === undefined) return
    entries.delete(key)
    keys.delete(entry.credentialId)
  }

  function keep(key: string, answer: Entry | Refusal): void {
    if ('refused' in answer) return refusals.keep(key, answer)
    dropCredential(answer.credentialId)
    entries.set(key, answer)
    keys.set(answer.credentialId, key)
    if (changeFeed.isFresh()) freshMs = clock.now()
  }

  async function land(key: string, flight: Flight<Entry>): Promise<Entry | Refusal> {
    try {
      const answer = await flight.answer
      if (flights.get(key) === flight) keep(key, answer)
      return answer
    } finally {
      if (flights.get(key) === flight) flights.delete(key)
    }
  }

  return {
    get(key) {
      const entry = entries.get(key)
      if (entry === undefined) return refusals.get(key)
      if (!changeFeed.isFresh()) return undefined
      freshMs = clock.now()
      return entry
    },

    stale(key) {
      const entry = entries.peek(key)
      return entry && { entry, freshMs }
    },

    load(key, credentialId, read) {
      const underWay = flights.get(key)
      if (underWay !== undefined) return underWay.answer
      const flight: Flight<Entry> = { credentialId, answer: read() }
      flights.set(key, flight)
      return land(key, flight)
    },

    drop,
  }
}

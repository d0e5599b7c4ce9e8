import type { ChangedCredential, ChangeFeed } from '../../ports/change-feed.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Refusal } from '../../ports/credential-resolver.ts'

/** What is cached of a credential that resolved. */
export interface CachedCredential {
  /** The id that `credential_changed` names. */
  readonly credentialId: string
}

export interface CredentialCacheOptions {
  /** Which changes of credentials are about these. */
  readonly kind: ChangedCredential['kind']
  readonly changeFeed: ChangeFeed
  readonly clock: Clock
  /** Credentials kept; of those beyond it the ones not used lately go. */
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
  /** What is known and may be used now. What depends on the time is the caller's to compare. */
  get(key: string): Entry | Refusal | undefined
  /** Reads the credential, once for all who ask at the same time, and keeps the answer. Its id is undefined where only the datastore knows. */
  load(key: string, credentialId: string | undefined, read: ReadCredential<Entry>): Promise<Entry | Refusal>
  /** What was known when the feed was fresh last, and when that was, in ms; whether it is recent enough is the caller's to say. */
  stale(key: string): { readonly entry: Entry; readonly freshMs: number } | undefined
  drop(key: string): void
}

const REFUSAL_MS = 1000
const REFUSALS_MAX = 1000

interface Slot<Entry> {
  readonly entry: Entry
  wasUsed: boolean
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
  const slots = new Map<string, Slot<Entry>>()
  const keys = new Map<string, string>()
  const flights = new Map<string, Flight<Entry>>()
  const refusals = createRefusals(clock)
  /** Every entry is as good as the feed: what was revoked by then is no longer here. */
  let freshMs = Number.NEGATIVE_INFINITY

  changeFeed.subscribe(
    (change) => {
      if (change.kind === 'credential_changed' && change.payload.kind === kind) forget(change.payload.id)
    },
    async () => forgetAll(),
  )

  /** What was read before the change must be neither kept nor handed to those who ask after it. A read of who knows whom may be it. */
  function forget(credentialId: string): void {
    dropCredential(credentialId)
    for (const [key, flight] of flights) {
      if (flight.credentialId === undefined || flight.credentialId === credentialId) flights.delete(key)
    }
  }

  function forgetAll(): void {
    slots.clear()
    keys.clear()
    flights.clear()
  }

  function dropCredential(credentialId: string): void {
    const key = keys.get(credentialId)
    if (key !== undefined) drop(key)
  }

  function drop(key: string): void {
    const slot = slots.get(key)
    if (slot === undefined) return
    slots.delete(key)
    keys.delete(slot.entry.credentialId)
  }

  function keep(key: string, answer: Entry | Refusal): void {
    if ('refused' in answer) return refusals.keep(key, answer)
    dropCredential(answer.credentialId)
    while (slots.size >= entriesMax) evictOne()
    slots.set(key, { entry: answer, wasUsed: false })
    keys.set(answer.credentialId, key)
    if (changeFeed.isFresh()) freshMs = clock.now()
  }

  /** Takes the oldest; one used since it was last looked at gets a second round. */
  function evictOne(): void {
    for (const [key, slot] of slots) {
      if (!slot.wasUsed) return drop(key)
      slots.delete(key)
      slots.set(key, { entry: slot.entry, wasUsed: false })
    }
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
      const slot = slots.get(key)
      if (slot === undefined) return refusals.get(key)
      if (!changeFeed.isFresh()) return undefined
      slot.wasUsed = true
      freshMs = clock.now()
      return slot.entry
    },

    stale(key) {
      const slot = slots.get(key)
      return slot && { entry: slot.entry, freshMs }
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

interface Refusals {
  get(key: string): Refusal | undefined
  keep(key: string, refusal: Refusal): void
}

/**
 * Refusals by key, the newest ones. A credential is stored before it is shown, so that a refused text becomes good later
 * only where its owner is let in again; that may take as long as a refusal is kept.
 */
function createRefusals(clock: Clock): Refusals {
  const kept = new Map<string, { readonly refusal: Refusal; readonly untilMs: number }>()
  return {
    get(key) {
      if (kept.size === 0) return undefined
      const found = kept.get(key)
      if (found === undefined || found.untilMs > clock.now()) return found?.refusal
      kept.delete(key)
      return undefined
    },
    keep(key, refusal) {
      kept.delete(key)
      const oldest = kept.keys().next()
      if (kept.size >= REFUSALS_MAX && oldest.done !== true) kept.delete(oldest.value)
      kept.set(key, { refusal, untilMs: clock.now() + REFUSAL_MS })
    },
  }
}

import { readKeySet } from '../shared/audit/key-set.ts'
import type { SignatureKey } from '../shared/audit/signed-position.ts'
import type { FindKey } from '../shared/events/verifier.ts'
import type { Manifest } from '../shared/contract/manifest-format.ts'
import type { Caller, Reply } from './client.ts'
import { TransportFailure } from './failures.ts'
import { systemRetryClock, type RetryClock } from './retry.ts'

export interface PublishedKeysDeps {
  readonly caller: Pick<Caller, 'call'>
  readonly manifest: Manifest
  readonly clock?: Pick<RetryClock, 'nowMs'> | undefined
}

/** Minimum time between two requests for an unknown key, so that forged key ids do not load the server. */
const REFETCH_AFTER_MS = 5000
/** Cache time if the server sends no `max-age`. */
const DEFAULT_MAX_AGE_SECONDS = 300

/**
 * Finds keys in the list that the server publishes (`GET /v1/signing-keys`). The list is fetched when it is first needed,
 * cached as long as the server allows, and fetched again for an unknown key id. Concurrent readers share one call.
 *
 * @throws the failure of the call.
 */
export function createPublishedKeys({ caller, manifest, clock = systemRetryClock }: PublishedKeysDeps): FindKey {
  const operation = manifest.operations['GetSigningKeys']
  if (operation === undefined) throw new Error('the contract has no GetSigningKeys')
  let keys = new Map<string, SignatureKey>()
  let readMs = -Infinity
  let cachedUntilMs = -Infinity
  let reading: Promise<void> | undefined

  async function read(): Promise<void> {
    const startedMs = clock.nowMs()
    const reply = await caller.call(
      operation as NonNullable<typeof operation>,
      {},
      { token: null, isParsedByCaller: true },
    )
    keys = new Map(keysOf(reply).map((key) => [key.kid, key]))
    readMs = startedMs
    cachedUntilMs = startedMs + maxAgeSeconds(reply) * 1000
  }

  function isUsable(kid: string): boolean {
    const nowMs = clock.nowMs()
    return nowMs < cachedUntilMs && (keys.has(kid) || nowMs < readMs + REFETCH_AFTER_MS)
  }

  return async (kid) => {
    if (!isUsable(kid)) {
      reading ??= read().finally(() => (reading = undefined))
      await reading
    }
    return keys.get(kid)
  }
}

/** The keys in an answer of `GET /v1/signing-keys`. @throws TransportFailure if they cannot be parsed. */
export function keysOf({ value }: Reply): readonly SignatureKey[] {
  try {
    return readKeySet(value)
  } catch (error) {
    if (error instanceof TypeError)
      throw new TransportFailure('unreadable', `the signing keys: ${error.message}`, error)
    throw error
  }
}

function maxAgeSeconds({ headers }: Reply): number {
  const maxAge = /(?:^|[ ,])max-age=(\d{1,9})/.exec(headers['cache-control'] ?? '')?.[1]
  return maxAge === undefined ? DEFAULT_MAX_AGE_SECONDS : Number(maxAge)
}

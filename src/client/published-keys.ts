import { readKeySet } from '../shared/audit/key-set.ts'
import type { PlaceKey } from '../shared/audit/signed-place.ts'
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

/** For a key that is not in the list it is not asked for more often: forged names cost the server nothing. */
const ASKED_AGAIN_AFTER_MS = 5000
/** Where the server does not say how long its list may be kept. */
const KEPT_SECONDS = 300

/**
 * Finds keys in the list that the server publishes (`GET /v1/signing-keys`). The list is read when it is first needed, kept
 * for as long as the server allows, and fetched again for a name that is not in it; readers at the same time share one call.
 * Rejects with what the call fails with.
 */
export function createPublishedKeys({ caller, manifest, clock = systemRetryClock }: PublishedKeysDeps): FindKey {
  const operation = manifest.operations['GetSigningKeys']
  if (operation === undefined) throw new Error('the contract has no GetSigningKeys')
  let keys = new Map<string, PlaceKey>()
  let readMs = -Infinity
  let keptUntilMs = -Infinity
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
    keptUntilMs = startedMs + maxAgeSeconds(reply) * 1000
  }

  function isUsable(kid: string): boolean {
    const nowMs = clock.nowMs()
    return nowMs < keptUntilMs && (keys.has(kid) || nowMs < readMs + ASKED_AGAIN_AFTER_MS)
  }

  return async (kid) => {
    if (!isUsable(kid)) {
      reading ??= read().finally(() => (reading = undefined))
      await reading
    }
    return keys.get(kid)
  }
}

/** The keys of an answer of `GET /v1/signing-keys`. Throws `TransportFailure` where they cannot be read. */
export function keysOf({ value }: Reply): readonly PlaceKey[] {
  try {
    return readKeySet(value)
  } catch (error) {
    if (error instanceof TypeError)
      throw new TransportFailure('unreadable', `the signing keys: ${error.message}`, error)
    throw error
  }
}

function maxAgeSeconds({ headers }: Reply): number {
  const said = /(?:^|[ ,])max-age=(\d{1,9})/.exec(headers['cache-control'] ?? '')?.[1]
  return said === undefined ? KEPT_SECONDS : Number(said)
}

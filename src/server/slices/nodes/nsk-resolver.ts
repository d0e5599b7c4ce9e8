import { parseNsk } from '../../../shared/credential-formats.ts'
import { lookUp } from '../../http/auth/credential-look-up.ts'
import { isFingerprintOf } from '../../http/auth/stored-fingerprint.ts'
import type { ChangeFeed } from '../../ports/change-feed.ts'
import type { Clock, IdSource } from '../../ports/clock.ts'
import type { Caller, CredentialResolver, Refusal } from '../../ports/credential-resolver.ts'
import { isUnavailable, type Datastore } from '../../ports/datastore.ts'
import type { Keyring } from '../../ports/keyring.ts'
import type { UnitOfWork } from '../../ports/unit-of-work.ts'
import { createGatheredReads } from '../../../shared/batch-loader.ts'
import { lockNode } from '../../sql/lock-node.ts'
import { createNskCache, type KnownKey } from './nsk-cache.ts'
import { findKeys, keyName, markFirstUse, type PresentedKey } from './secret-key-store.ts'

export interface NskResolverDeps {
  readonly datastore: Datastore
  readonly unitOfWork: UnitOfWork
  readonly keyring: Keyring
  readonly changeFeed: ChangeFeed
  readonly clock: Clock
  readonly ids: IdSource
}

/** Nodes whose keys are kept in memory at most, about 40 MB. */
const CACHED_NODES = 65_536
/** A whole fleet may come back at once and ask with keys that are not in memory. */
const GATHERED = { flightsMax: 2, batchMax: 128, isOutage: isUnavailable } as const
/** The fixed fields at the end of a key's text, each with the underscore before it. */
const KEY_FIELD = 44
const KID_FIELD = 9
const NODE_HEX = 32

const UNKNOWN: Refusal = { refused: true, log: 'node secret key unknown' }
const RETIRED: Refusal = { refused: true, log: 'node secret key retired' }
const REVOKED: Refusal = { refused: true, code: 'nsk_revoked', log: 'node secret key revoked' }

/**
 * Resolves node secret keys (decisions 4: NSK). A known key is resolved from memory, at once, while the change feed is
 * fresh; every change of a node's keys evicts them. A key that replaced another retires it when it is
 * first used, on every replica, before the call continues.
 */
export function createNskResolver(deps: NskResolverDeps): CredentialResolver {
  const { clock, changeFeed: feed, keyring } = deps
  const cache = createNskCache(CACHED_NODES)
  const readMany = (names: readonly string[]) => findKeys(deps.datastore.pool('node-keys'), names, clock.now())
  const read = createGatheredReads({ ...GATHERED, readMany })
  /** Rises with every change of any node's keys: results read before a change are not cached. */
  let changes = 0
  /** Every cached key is as fresh as the feed: changed keys are evicted. */
  let freshMs = Number.NEGATIVE_INFINITY

  feed.subscribe(
    (change) => {
      if (change.kind !== 'credential_changed' || change.payload.kind !== 'nsk') return
      changes += 1
      cache.drop(hexOf(change.payload.id))
    },
    async () => {
      changes += 1
      cache.clear()
    },
  )

  function answer(key: KnownKey): Caller | Refusal {
    return key.retiresAtMs !== undefined && key.retiresAtMs <= clock.now() ? RETIRED : key.answer
  }

  function find(presented: string): KnownKey | undefined {
    const kidAt = presented.length - KEY_FIELD - KID_FIELD + 1
    const nodeHex = presented.slice(kidAt - 1 - NODE_HEX, kidAt - 1)
    const known = cache.find(nodeHex, presented.slice(kidAt, kidAt + KID_FIELD - 1))
    return known?.cacheKey === keyring.cacheKey(presented) ? known : undefined
  }

  async function look(presented: string): Promise<Caller | Refusal> {
    const fields = parseNsk(presented)
    if (fields === undefined) return UNKNOWN
    const seen = changes
    const stored = await read(keyName(fields))
    if (stored === undefined || !isFingerprintOf(keyring, presented, stored)) return UNKNOWN
    const key = knownKey(fields, { stored, cacheKey: keyring.cacheKey(presented) })
    const answered = answer(key)
    if (!('refused' in answered) && stored.first_used_at === null && stored.has_elder) await retireElders(deps, fields)
    if (seen === changes) cache.keep(hexOf(fields.nodeId), key)
    if (feed.isFresh()) freshMs = clock.now()
    return answered
  }

  function recall(presented: string): Caller | Refusal | undefined {
    const known = feed.isFresh() ? find(presented) : undefined
    if (known === undefined) return undefined
    freshMs = clock.now()
    return answer(known)
  }

  const resolve = (presented: string): Caller | Refusal | Promise<Caller | Refusal> =>
    recall(presented) ?? lookUp(() => look(presented))

  return {
    kind: 'nsk',
    recognizes: (presented) => presented.startsWith('nsk_'),
    recall,
    resolve: (presented) => (feed.isFresh() ? resolve(presented) : feed.untilFresh().then(() => resolve(presented))),
    resolveStale(presented, withinMs) {
      // A fresh feed needs no substitute.
      if (feed.isFresh() || clock.now() - freshMs > withinMs) return undefined
      const known = find(presented)
      if (known === undefined) return undefined
      const answered = answer(known)
      return 'refused' in answered ? answered : { ...answered, staleSinceMs: freshMs }
    },
  }
}

function knownKey(
  fields: { nodeId: string; kid: string },
  { stored, cacheKey }: { readonly stored: PresentedKey; readonly cacheKey: string },
): KnownKey {
  return {
    kid: fields.kid,
    cacheKey,
    retiresAtMs: stored.retires_at?.getTime(),
    answer: stored.revoked_at === null ? callerOf(fields, stored) : REVOKED,
  }
}

function callerOf({ nodeId, kid }: { nodeId: string; kid: string }, stored: PresentedKey): Caller {
  return {
    subject: `node:${nodeId}`,
    kind: 'node',
    id: nodeId,
    domainId: stored.domain_id,
    displayName: stored.name,
    credential: { kind: 'nsk', id: kid, scopes: ['*'], expiresAtMs: stored.retires_at?.getTime(), kid },
  }
}

/** `by` names the caller's own key. No audit row is written: the rotation has one. */
async function retireElders(deps: NskResolverDeps, key: { nodeId: string; kid: string }): Promise<void> {
  const options = { pool: 'node-keys', correlationId: deps.ids.next() } as const
  await deps.unitOfWork.run(options, async (change) => {
    await lockNode(change.db, key.nodeId)
    if (await markFirstUse(change.db, key, deps.clock.now())) change.credentialChanged('nsk', key.nodeId)
  })
}

function hexOf(nodeId: string): string {
  return nodeId.replaceAll('-', '')
}

import { createHash } from 'node:crypto'
import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider'
import type { Clock } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { SealedPlace, Sealing } from '../../ports/keyring.ts'
import * as store from './state-store.ts'

export interface StateDeps {
  readonly datastore: Datastore
  readonly sealing: Sealing
  readonly clock: Clock
}

/**
 * Stores the provider's state between requests in the datastore: ids hashed, values sealed, so that
 * a reader of the datastore or of a backup cannot continue somebody's sign-in.
 *
 * @param onUsedTwice creates the error for a second use of a single-use object
 */
export function createStateAdapter({ datastore, sealing, clock }: StateDeps, onUsedTwice: () => Error): AdapterFactory {
  const db = () => datastore.pool('interactive')
  const now = (): Date => new Date(clock.now())

  async function open(state: store.StateRecord | undefined): Promise<AdapterPayload | undefined> {
    if (state === undefined) return undefined
    const bytes = await sealing.open(placeOf({ model: state.model, idHash: state.id_hash }), state.sealed)
    // Sealed by `upsert` below, and bound to its row.
    const payload = JSON.parse(Buffer.from(bytes).toString('utf8')) as AdapterPayload
    const { consumed_at: consumedAt } = state
    return consumedAt === null ? payload : { ...payload, consumed: Math.floor(consumedAt.getTime() / 1000) }
  }

  return (model): Adapter => {
    const keyOf = (id: string): store.StateKey => ({ model, idHash: hashOf(id) })
    return {
      async upsert(id, payload, expiresIn) {
        const key = keyOf(id)
        await store.putState(db(), {
          model,
          id_hash: key.idHash,
          sealed: await sealing.seal(placeOf(key), Buffer.from(JSON.stringify(payload), 'utf8')),
          uid_hash: payload.uid === undefined ? null : hashOf(payload.uid),
          grant_hash: payload.grantId === undefined ? null : hashOf(payload.grantId),
          consumed_at: null,
          expires_at: expiresIn === undefined ? null : new Date(clock.now() + expiresIn * 1000),
        })
      },
      find: async (id) => open(await store.findState(db(), keyOf(id), now())),
      findByUid: async (uid) => open(await store.findStateByUid(db(), model, { hash: hashOf(uid), now: now() })),
      // Of device flows, which this provider does not have.
      findByUserCode: async () => undefined,
      async consume(id) {
        if (!(await store.consumeState(db(), keyOf(id), now()))) throw onUsedTwice()
      },
      destroy: (id) => store.deleteState(db(), keyOf(id)),
      revokeByGrantId: (grantId) => store.deleteStatesOfGrant(db(), hashOf(grantId)),
    }
  }
}

function hashOf(id: string): Buffer {
  return createHash('sha256').update(id).digest()
}

/** Where a state of the provider is sealed. */
export function placeOf({ model, idHash }: store.StateKey): SealedPlace {
  return { table: 'provider_states', column: 'sealed', rowId: `${model}:${idHash.toString('hex')}` }
}

import { BOTH_KEYS_HOURS } from '../../../shared/webhooks/limits.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Db } from '../../ports/datastore.ts'
import type { Sealing } from '../../ports/keyring.ts'
import { insertKey, retireKeys } from './keys-store.ts'
import { makeKey, placeOf } from './signing.ts'
import type { WebhookRecord } from './store.ts'

export interface KeysDeps {
  readonly sealing: Sealing
  readonly ids: IdSource
}

const BOTH_KEYS_MS = BOTH_KEYS_HOURS * 60 * 60 * 1000

/** Gives the webhook a key. The one that it has signs beside it for a day. Returns the secret, which is shown once. */
export async function giveKey(
  tx: Db,
  { id: webhookId, scheme }: Pick<WebhookRecord, 'id' | 'scheme'>,
  { sealing, ids, now }: KeysDeps & { readonly now: Date },
): Promise<{ readonly secret?: string }> {
  const { bytes, secret, publicKey } = makeKey(scheme)
  const id = ids.next()
  const sealed = await sealing.seal(placeOf(id), bytes)
  await retireKeys(tx, webhookId, new Date(now.getTime() + BOTH_KEYS_MS))
  await insertKey(tx, { id, webhook_id: webhookId, sealed, public_key: publicKey, created_at: now, retires_at: null })
  return secret === undefined ? {} : { secret }
}

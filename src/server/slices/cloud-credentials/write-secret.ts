import { problem } from '../../../shared/problems.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Db } from '../../ports/datastore.ts'
import type { SecretWrites } from '../../ports/secret-writes.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { announce } from './announce.ts'
import { assertNotRevoked, pathOf, referenceOf } from './credential.ts'
import * as store from './store.ts'

/** What a credential is created with, beside its secret. */
export type NewCredential = Pick<store.CredentialRecord, 'id' | 'cloud_id' | 'display_name' | 'expires_at'>

/** A secret that fits its provider, on its way into the store. */
interface Writing {
  readonly secretWrites: SecretWrites
  readonly bytes: Uint8Array
}

/**
 * Creates a credential with its secret. The Cloud is held, so that it is not deleted meanwhile.
 * @throws Problem `cloud_not_found`, `secret_store_unavailable`
 */
export function createCredential(
  ctx: RequestContext,
  { secretWrites, bytes }: Writing,
  draft: NewCredential,
): Promise<store.CredentialRecord> {
  const secret = { owner: referenceOf(draft.id), path: pathOf(draft.id), bytes, base: async () => 0 }
  const at = new Date(ctx.nowMs)
  const fixed = { state: 'active', rotated_at: null, revoked_by: null, revoked_reason: null } as const
  return secretWrites.write(secret, (written) =>
    ctx.change(async (change) => {
      if (!(await store.holdCloud(change.db, draft.cloud_id))) throw problem('cloud_not_found')
      await written.claim(change)
      const credential = { ...draft, ...fixed, secret_version: written.version, created_at: at, updated_at: at }
      await store.insertCredential(change.db, credential)
      await change.tuples.createStructural(
        { subject: `cloud:${draft.cloud_id}`, relation: 'cloud', resource: referenceOf(draft.id) },
        { domainId: null, projectId: null },
      )
      announce(change, 'CloudCredentialCreated', credential)
      ctx.about(referenceOf(draft.id), null)
      return credential
    }),
  )
}

/**
 * Replaces the secret of a credential; the old one is destroyed behind the change.
 * @throws Problem `cloud_credential_not_found`, `illegal_transition`, `secret_write_in_progress`, `secret_store_unavailable`
 */
export function rotateCredential(
  ctx: RequestContext,
  { secretWrites, bytes }: Writing,
  id: string,
): Promise<store.CredentialRecord> {
  const place = { owner: referenceOf(id), path: pathOf(id) }
  return secretWrites.write({ ...place, bytes, base: (tx) => versionOf(tx, id) }, (written) =>
    ctx.change(async (change) => {
      const found = await locked(change, id)
      await written.claim(change)
      const at = new Date(ctx.nowMs)
      const rotated = { ...found, secret_version: written.version, rotated_at: at, updated_at: at }
      await store.updateCredential(change.db, rotated)
      await secretWrites.destroyBehind(change, { ...place, version: found.secret_version })
      announce(change, 'CloudCredentialRotated', rotated)
      return rotated
    }),
  )
}

async function versionOf(tx: Db, id: string): Promise<number> {
  const found = await store.findCredential(tx, id)
  if (found === undefined) throw problem('cloud_credential_not_found')
  assertNotRevoked(found)
  return found.secret_version
}

async function locked(change: Change, id: string): Promise<store.CredentialRecord> {
  const found = await store.lockForChange(change.db, id)
  if (found === undefined) throw problem('cloud_credential_not_found')
  assertNotRevoked(found)
  return found
}

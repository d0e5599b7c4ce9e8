import type { cloudCredentials } from '../../../shared/contract/cloud-credentials.ts'
import { problem } from '../../../shared/problems.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { LentCredentials } from '../../ports/lent-credentials.ts'
import type { SecretWrites } from '../../ports/secret-writes.ts'
import { byId } from '../../sql/keyset.ts'
import { announce } from './announce.ts'
import { assertNotRevoked, endOf, patched, pathOf, referenceOf, secretBytes, toAnswer } from './credential.ts'
import * as store from './store.ts'
import { createCredential, rotateCredential } from './write-secret.ts'

export interface CloudCredentialsDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
  readonly secretWrites: SecretWrites
  readonly lentCredentials: LentCredentials
}

/** Serves the credentials of Clouds (decisions: Catalogue), oldest first. None of its answers has a secret. */
export function createCloudCredentials(deps: CloudCredentialsDeps): Handlers<typeof cloudCredentials> {
  const { datastore, ids, secretWrites, lentCredentials } = deps
  const db = () => datastore.pool('interactive')

  /** The credential of an id that the gate admitted: it may have gone since. */
  async function existing(ctx: RequestContext, found: store.CredentialRecord | undefined) {
    if (found === undefined) throw problem('cloud_credential_not_found')
    ctx.about(referenceOf(found.id), null)
    return found
  }

  /** @throws Problem `cloud_not_found`, `invalid_cloud_credential` */
  async function bytesFor(cloudId: string, secret: Readonly<Record<string, unknown>>): Promise<Buffer> {
    const provider = await store.providerOf(db(), cloudId)
    if (provider === undefined) throw problem('cloud_not_found')
    return secretBytes(provider, secret)
  }

  return {
    async CreateCloudCredential(ctx, { id: cloudId, body: { display_name, secret, expires_at = null } }) {
      const draft = { id: ids.next(), cloud_id: cloudId, display_name, expires_at: endOf(expires_at, ctx.nowMs) }
      const bytes = await bytesFor(cloudId, secret)
      const created = await createCredential(ctx, { secretWrites, bytes }, draft)
      ctx.header('Location', `/v1/cloud-credentials/${created.id}`)
      return toAnswer(created, ctx.nowMs)
    },

    ListCloudCredentials: (ctx, { id: cloudId }) =>
      listPage(ctx, (range) => store.listCredentials(db(), cloudId, range), {
        positionOf: byId.positionOf,
        visible: ({ id }) => ({ id }),
        toAnswer: (credential) => toAnswer(credential, ctx.nowMs),
      }),

    async GetCloudCredential(ctx, { id }) {
      return toAnswer(await existing(ctx, await store.findCredential(db(), id)), ctx.nowMs)
    },

    async PatchCloudCredential(ctx, { id, body }) {
      ctx.note({ fields: Object.keys(body).toSorted() })
      const changed = await ctx.change(async (change) => {
        const found = await existing(ctx, await store.lockForChange(change.db, id))
        const next = patched(found, body, ctx.nowMs)
        await store.updateCredential(change.db, next)
        announce(change, 'CloudCredentialUpdated', next)
        return next
      })
      return toAnswer(changed, ctx.nowMs)
    },

    async DeleteCloudCredential(ctx, { id }) {
      await ctx.change(async (change) => {
        const found = await existing(ctx, await store.lockForEnd(change.db, id))
        if (await lentCredentials.isLent(change.db, id)) throw problem('cloud_credential_in_use')
        await store.deleteCredential(change.db, id)
        await change.tuples.deleteObject(referenceOf(id))
        await secretWrites.destroyBehind(change, { owner: referenceOf(id), path: pathOf(id) })
        announce(change, 'CloudCredentialDeleted', found)
      })
    },

    async RotateCloudCredential(ctx, { id, body: { secret } }) {
      const found = await existing(ctx, await store.findCredential(db(), id))
      assertNotRevoked(found)
      const bytes = await bytesFor(found.cloud_id, secret)
      return toAnswer(await rotateCredential(ctx, { secretWrites, bytes }, id), ctx.nowMs)
    },

    async RevokeCloudCredential(ctx, { id, body: { reason } }) {
      const revoked = await ctx.change(async (change) => {
        const found = await existing(ctx, await store.lockForEnd(change.db, id))
        assertNotRevoked(found)
        const by = { revoked_by: ctx.caller.subject, revoked_reason: reason, updated_at: new Date(ctx.nowMs) }
        const next = { ...found, ...by, state: 'revoked' as const }
        await store.updateCredential(change.db, next)
        await lentCredentials.end(change, id, { by: ctx.caller.subject, reason, nowMs: ctx.nowMs })
        announce(change, 'CloudCredentialRevoked', next)
        return next
      })
      return toAnswer(revoked, ctx.nowMs)
    },
  }
}

import type { nodes } from '../../../shared/contract/nodes.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import type { MintKey } from './mint-key.ts'
import { lockNode } from '../../sql/lock-node.ts'
import { addKey, liveKeys, retireKeys, revokeKeys } from './secret-key-store.ts'

export type SecretKeyHandlers = Pick<Handlers<typeof nodes>, 'PostNodeSecretKeyRotate' | 'PostNodeSecretKeyRevoke'>

/** How long a replaced key works when the new one is not used, in ms (decisions 4: NSK). */
const GRACE_MS = 10 * 60 * 1000

/** Serves the rotation and revocation of node secret keys. */
export function createSecretKeys({ mintKey }: { readonly mintKey: MintKey }): SecretKeyHandlers {
  return {
    async PostNodeSecretKeyRotate(ctx, { id }) {
      const { nsk, key } = mintKey(id, ctx.nowMs)
      const retiresAtMs = ctx.nowMs + GRACE_MS
      await ctx.change(async (change) => {
        await lockExisting(ctx, change, id)
        await requireLiveKey(ctx, change, id)
        await retireKeys(change.db, id, retiresAtMs)
        await addKey(change.db, key)
        change.credentialChanged('nsk', id)
      })
      return { nsk, kid: key.kid, previous_retires_at: new Date(retiresAtMs).toISOString() }
    },

    async PostNodeSecretKeyRevoke(ctx, { id }) {
      await ctx.change(async (change) => {
        await lockExisting(ctx, change, id)
        await revokeKeys(change.db, id, ctx.nowMs)
        change.credentialChanged('nsk', id)
      })
    },
  }
}

/** Serializes changes of one node's keys. */
async function lockExisting(ctx: RequestContext, change: Change, id: string): Promise<void> {
  const node = await lockNode(change.db, id)
  if (node === undefined) throw problem('node_not_found')
  ctx.about(`node:${id}`, node.domain_id)
}

/**
 * A revoked node stays revoked: a rotation needs a working key to replace. Under the lock, a node must still hold the
 * key that it called with, which may have ended since it was resolved.
 */
async function requireLiveKey(ctx: RequestContext, change: Change, id: string): Promise<void> {
  const { kind, credential } = ctx.caller
  const live = await liveKeys(change.db, id, ctx.nowMs)
  if (kind === 'node' && !live.some(({ kid }) => kid === credential.kid)) throw problem('unauthorized')
  if (live.length === 0) throw problem('nsk_not_active')
}

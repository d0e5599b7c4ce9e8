import type { meshKeys } from '../../../shared/contract/mesh-keys.ts'
import { formatPskIssuedAt } from '../../../shared/mesh/psk-instant.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Sealing } from '../../ports/keyring.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { completeRotation } from '../../sql/key-rotations.ts'
import { lockNodeFully, type LockedNode } from '../../sql/lock-node.ts'
import { announcePskAssigned, sealFreshPsk } from '../../sql/node-psk.ts'
import { nextPskIssuedAt } from '../../sql/psk-epoch.ts'
import { parsePublicKey } from '../../sql/public-key.ts'
import { holdPeers, ownStateChanged, peersChanged } from '../../sql/state-revisions.ts'
import { announceKeyRotated } from './announce.ts'
import { findPendingRotation, replaceKeys, keyStateOf } from './rotation-store.ts'

export interface CompletionDeps {
  readonly datastore: Datastore
  readonly sealing: Sealing
}

/** Serves the node's leg of a rotation: both of its keys are replaced in one transaction, which also announces them to its peers. */
export function createCompletion({
  datastore,
  sealing,
}: CompletionDeps): Pick<Handlers<typeof meshKeys>, 'PostKeysRotate'> {
  return {
    async PostKeysRotate(ctx, { body }) {
      const publicKey = parsePublicKey(body.public_key)
      const { id: nodeId, domainId } = ctx.caller
      // Checked again under the locks. This first check keeps unrequested calls from blocking the Domain's other calls.
      const pending = await findPendingRotation(datastore.pool('interactive'), nodeId)
      if (pending === undefined) throw problem('no_pending_rotation')
      const pskSealed = await sealFreshPsk(sealing, nodeId)
      const { rotationId, pskIssuedAtNs } = await ctx.change(async (change) => {
        const keys = await lockOwn(ctx, change)
        const completed = await completeRotation(change.db, nodeId, ctx.nowMs)
        if (completed === undefined) throw problem('no_pending_rotation')
        if (keys.public_key.equals(publicKey)) throw problem('public_key_in_use')
        const issued = nextPskIssuedAt(ctx.nowMs, BigInt(keys.psk_issued_at))
        await replaceKeys(change.db, nodeId, { publicKey, pskSealed, pskIssuedAtNs: issued, atMs: ctx.nowMs })
        await peersChanged(change.db, domainId, [nodeId])
        await ownStateChanged(change.db, [nodeId], 'node')
        announceKeyRotated(change, { nodeId, domainId }, publicKey)
        announcePskAssigned(change, { nodeId, domainId }, issued)
        return { rotationId: completed, pskIssuedAtNs: issued }
      })
      return {
        rotation_id: rotationId,
        node_id: nodeId,
        completed_at: new Date(ctx.nowMs).toISOString(),
        psk_issued_at: formatPskIssuedAt(pskIssuedAtNs),
      }
    },
  }
}

/**
 * Serializes the changes of one node's keys. Under the lock the node must still hold the key that it called with,
 * since that key or the node may have been revoked after it was resolved.
 */
async function lockOwn({ caller, nowMs }: RequestContext, change: Change): Promise<LockedNode> {
  await holdPeers(change.db, caller.domainId)
  const keys = await lockNodeFully(change.db, caller.id)
  if (keys === undefined) throw problem('unauthorized')
  const state = await keyStateOf(change.db, { nodeId: caller.id, kid: caller.credential.id, nowMs })
  if (state !== 'live') throw problem(state === 'revoked' ? 'nsk_revoked' : 'unauthorized')
  return keys
}

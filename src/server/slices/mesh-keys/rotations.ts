import type { meshKeys } from '../../../shared/contract/mesh-keys.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { lockNode } from '../../sql/lock-node.ts'
import { domainOfNode } from '../../sql/node-domain.ts'
import { announceRotateKeys } from './announce.ts'
import { toRotation } from './rotation-view.ts'
import { findLatestRotation, findPendingRotation, insertPendingRotation } from './rotation-store.ts'

export interface RotationsDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
}

/**
 * Serves rotations to operators. A pending rotation waits for the node without a time limit; a second request
 * meanwhile returns the same rotation.
 */
export function createRotations({
  datastore,
  ids,
}: RotationsDeps): Pick<Handlers<typeof meshKeys>, 'PostNodeKeysRotate' | 'GetNodeKeysRotation'> {
  return {
    async PostNodeKeysRotate(ctx, { id }) {
      const { rotation, isNew } = await ctx.change(async (change) => {
        const node = await lockNode(change.db, id)
        if (node === undefined) throw problem('node_not_found')
        ctx.about(`node:${id}`, node.domain_id)
        const pending = await findPendingRotation(change.db, id)
        if (pending !== undefined) return { rotation: pending, isNew: false }
        const asked = {
          id: ids.next(),
          node_id: id,
          domain_id: node.domain_id,
          requested_at: new Date(ctx.nowMs),
          requested_by: ctx.caller.subject,
        }
        announceRotateKeys(change, { nodeId: id, domainId: node.domain_id }, asked.id)
        return { rotation: await insertPendingRotation(change.db, asked), isNew: true }
      })
      ctx.status(isNew ? 202 : 200)
      return toRotation(rotation)
    },

    async GetNodeKeysRotation(ctx, { id }) {
      const db = datastore.pool('interactive')
      const domainId = await domainOfNode(db, id)
      if (domainId === undefined) throw problem('node_not_found')
      ctx.about(`node:${id}`, domainId)
      const rotation = await findLatestRotation(db, id)
      if (rotation === undefined) throw problem('rotation_not_found')
      return toRotation(rotation)
    },
  }
}

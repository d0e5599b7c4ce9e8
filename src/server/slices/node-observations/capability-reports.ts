import type { nodeObservations } from '../../../shared/contract/node-observations.ts'
import type { Handlers } from '../../http/request-context.ts'
import { capabilitiesOf, fieldsChanged, isHostKeyChanged } from './capabilities.ts'
import * as store from './capability-store.ts'
import { lockReportingNode } from './reporting-node.ts'

/** Serves the capability reports of nodes. */
export function createCapabilityReports(): Pick<Handlers<typeof nodeObservations>, 'PutNodeCapabilities'> {
  return {
    PutNodeCapabilities: (ctx, { id, body }) =>
      ctx.change(async ({ db }) => {
        await lockReportingNode(db, id)
        const known = await store.findCapabilities(db, id)
        const next = capabilitiesOf(body, known)
        const fields_changed = fieldsChanged(known, next)
        const at = new Date(ctx.nowMs)
        if (known !== undefined && fields_changed.length === 0) await store.touchCapabilities(db, id, at)
        else await store.storeCapabilities(db, id, { ...next, at })
        const host_key_changed = isHostKeyChanged(known, next)
        return { accepted_at: at.toISOString(), fields_changed, host_key_changed }
      }),
  }
}

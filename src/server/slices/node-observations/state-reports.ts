import type { nodeObservations } from '../../../shared/contract/node-observations.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Db } from '../../ports/datastore.ts'
import { ownStateChanged } from '../../sql/state-revisions.ts'
import * as store from './report-store.ts'
import { reportText } from './report-value.ts'
import { lockReportingNode } from './reporting-node.ts'

type Operations = 'PutNodeStateReport' | 'DeleteNodeStateReport'

/** Maximum of keys of one node. */
const REPORTS_MAX = 64

/**
 * Serves what workloads report through their node, for the next pull of its state (S0 Nodes). No event is sent: the node
 * knows what it has reported.
 */
export function createStateReports(): Pick<Handlers<typeof nodeObservations>, Operations> {
  return {
    async PutNodeStateReport(ctx, { id, key, body }) {
      const at = new Date(ctx.nowMs)
      const report = { nodeId: id, key, value: reportText(body.value), at }
      await ctx.change(async ({ db }) => {
        await lockReportingNode(db, id)
        await put(db, report)
      })
      return { key, accepted_at: at.toISOString() }
    },

    async DeleteNodeStateReport(ctx, { id, key }) {
      await ctx.change(async ({ db }) => {
        await lockReportingNode(db, id)
        if (!(await store.deleteReport(db, id, key))) throw problem('report_not_found')
        await ownStateChanged(db, [id], 'node')
      })
    },
  }
}

/**
 * Stores a report of a node whose row is locked, so that its keys are counted exactly. A repeated report
 * leaves the node's state as it is.
 *
 * @throws Problem `report_limit_exceeded`.
 */
async function put(tx: Db, report: store.StateReport): Promise<void> {
  const known = await store.findReport(tx, report.nodeId, report.key)
  const isFull = known === undefined && (await store.countReports(tx, report.nodeId)) >= REPORTS_MAX
  if (isFull) throw problem('report_limit_exceeded')
  await store.storeReport(tx, report)
  if (known !== report.value) await ownStateChanged(tx, [report.nodeId], 'node')
}

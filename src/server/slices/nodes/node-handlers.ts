import type { nodes } from '../../../shared/contract/nodes.ts'
import { problem } from '../../../shared/problems.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers, RequestContext } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import { readLabelFilter } from '../../labels/label-filter.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import { assertRelayLabels } from '../../labels/relay-label.ts'
import { assignableLabels } from '../../labels/assignable-labels.ts'
import type { TextLabels } from '../../labels/node-labels.ts'
import { byId } from '../../sql/keyset.ts'
import { findNode, readNodes, type PlacedNode, type StoredNode } from './node-store.ts'
import { detailOf, reachabilityOf, summaryOf, type NodePage } from './node-view.ts'
import { readObserved } from './observed-store.ts'
import { patchNode } from './patch-node.ts'
import { liveKeys } from './secret-key-store.ts'

export type NodeHandlers = Pick<Handlers<typeof nodes>, 'ListNodes' | 'GetNode' | 'PatchNode' | 'GetNodeReachability'>

/** Serves the reading and changing of nodes by people. Lists are in id order (S0 NodeList). */
export function createNodeHandlers({
  datastore,
  ids,
}: {
  readonly datastore: Datastore
  readonly ids: IdSource
}): NodeHandlers {
  return {
    async ListNodes(ctx, { domain_id: domainId, labels: text, ...asked }) {
      const { nowMs } = ctx
      const db = datastore.pool('interactive')
      const labels = text === undefined ? undefined : await readLabelFilter(db, text, domainId)
      const filter = { ...NO_FILTER, ...asked, domainId, labels, nowMs }
      return listPage(ctx, (range) => readNodes(db, filter, range), {
        positionOf: byId.positionOf,
        visible: ({ id }) => ({ id }),
        toAnswer: (node) => summaryOf(node, nowMs),
      })
    },

    async GetNode(ctx, { id }) {
      const db = datastore.pool('interactive')
      const node = await existing(db, id)
      ctx.about(`node:${id}`, node.domain_id)
      return detailOf(node, await pageOf(db, id, ctx.nowMs), ctx.nowMs)
    },

    async PatchNode(ctx, { id, body }) {
      const stored = await existing(datastore.pool('interactive'), id)
      if (body.project_id !== undefined) await ctx.require('manage', `domain:${stored.domain_id}`)
      const assignable = await newlyAssignable(ctx, datastore.pool('interactive'), { stored, labels: body.labels })
      const by = { ids, by: ctx.caller.subject, atMs: ctx.nowMs }
      const { node, page } = await ctx.change(async (change) => {
        await patchNode(change, id, { ...body, ...by, assignable })
        const patched = await existing(change.db, id)
        ctx.about(`node:${id}`, patched.domain_id)
        return { node: patched, page: await pageOf(change.db, id, ctx.nowMs) }
      })
      return detailOf(node, page, ctx.nowMs)
    },

    async GetNodeReachability(ctx, { id }) {
      const node = await existing(datastore.pool('interactive'), id)
      const { state, changedAtMs } = reachabilityOf(node, ctx.nowMs)
      return {
        state,
        ...(node.accepted_at !== null && { last_heartbeat_at: node.accepted_at.toISOString() }),
        changed_at: new Date(changedAtMs).toISOString(),
      }
    },
  }
}

const NO_FILTER = { name: undefined, reachability: undefined, kind: undefined }

/** Definitions that the caller may assign, of the labels that the node does not have already. */
async function newlyAssignable(
  ctx: RequestContext,
  db: Db,
  { stored, labels = {} }: { readonly stored: StoredNode; readonly labels?: TextLabels | undefined },
): Promise<ReadonlySet<string>> {
  const domainId = stored.domain_id
  const changed = Object.entries(labels).filter(([key, value]) => value !== stored.labels[key])
  const assignable = await assignableLabels(ctx, db, { domainId, keys: changed.map(([key]) => key) })
  await assertRelayLabels(ctx, db, { domainId, labels: Object.fromEntries(changed) })
  return assignable
}

async function pageOf(db: Db, id: string, nowMs: number): Promise<NodePage> {
  return { keys: await liveKeys(db, id, nowMs), observed: await readObserved(db, id) }
}

async function existing(db: Db, id: string): Promise<PlacedNode> {
  const node = await findNode(db, id)
  if (node === undefined) throw problem('node_not_found')
  return node
}

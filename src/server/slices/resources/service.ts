import type { resources } from '../../../shared/contract/resources.ts'
import { problem } from '../../../shared/problems.ts'
import { listPage } from '../../http/list-page.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { announceHosts, assertHostable, removeConfig } from '../../bridges/configured-hosts.ts'
import { markOfSet } from '../../labels/managed-by.ts'
import { holdProject } from '../../sql/hold-project.ts'
import { bySlug } from '../../sql/keyset.ts'
import { normalizeHosts, referencesOf, toAnswer } from './resource.ts'
import * as store from './store.ts'

export interface ResourcesDeps {
  readonly datastore: Datastore
  readonly ids: IdSource
}

/** Serves the resources of a Project. They are listed by slug. */
export function createResources({ datastore, ids }: ResourcesDeps): Handlers<typeof resources> {
  return {
    async CreateResource(ctx, { id: projectId, body }) {
      const { host_node_ids: hosts = [], managed_by, ...fields } = body
      const mark = await markOfSet(ctx, datastore.pool('interactive'), managed_by)
      const id = ids.next()
      const at = new Date(ctx.nowMs)
      const created = await ctx.change(async (change) => {
        const domainId = await holdProject(change.db, projectId)
        if (domainId === undefined) throw problem('project_not_found')
        const place = { id, domain_id: domainId, project_id: projectId }
        const times = { created_at: at, updated_at: at }
        const resource = { ...place, ...fields, host_node_ids: normalizeHosts(hosts), ...times }
        await addResource(change, resource)
        await mark(change, { kind: 'resource', id })
        ctx.about(`resource:${id}`, domainId)
        return resource
      })
      ctx.header('Location', `/v1/projects/${projectId}/resources/${id}`)
      return toAnswer(created)
    },

    ListResources: (ctx, { id: projectId }) =>
      listPage(ctx, (range) => store.listResources(datastore.pool('interactive'), projectId, range), {
        positionOf: bySlug.positionOf,
        visible: ({ id }) => ({ id }),
        toAnswer,
      }),

    async GetResource(ctx, { id: projectId, resource_id: id }) {
      const resource = await store.findResource(datastore.pool('interactive'), { projectId, id })
      if (resource === undefined) throw problem('resource_not_found')
      ctx.about(`resource:${id}`, resource.domain_id)
      return toAnswer(resource)
    },

    async PatchResource(ctx, { id: projectId, resource_id: id, body }) {
      const patched = await ctx.change(async (change) => {
        const resource = await store.lockResource(change.db, { projectId, id })
        if (resource === undefined) throw problem('resource_not_found')
        ctx.about(`resource:${id}`, resource.domain_id)
        const renaming = { display_name: body.display_name ?? resource.display_name, updated_at: new Date(ctx.nowMs) }
        await store.renameResource(change.db, id, renaming)
        if (body.host_node_ids !== undefined) {
          await setHosts(change, resource, normalizeHosts(body.host_node_ids))
        }
        announce(change, 'ResourceUpdated', resource)
        return store.findResource(change.db, { projectId, id })
      })
      if (patched === undefined) throw new Error('a locked resource vanished')
      return toAnswer(patched)
    },

    async DeleteResource(ctx, { id: projectId, resource_id: id }) {
      await ctx.change(async (change) => {
        const resource = await store.lockResource(change.db, { projectId, id })
        if (resource === undefined) throw problem('resource_not_found')
        ctx.about(`resource:${id}`, resource.domain_id)
        await removeConfig(change, { resourceId: id, domainId: resource.domain_id })
        await store.deleteResource(change.db, id)
        for (const reference of referencesOf(resource)) await change.tuples.deleteObject(reference)
        announce(change, 'ResourceDeleted', resource)
      })
    },
  }
}

type Named = Pick<store.ResourceRecord, 'id' | 'domain_id' | 'project_id' | 'kind' | 'slug'>

async function addResource(change: Change, resource: store.ResourceRecord): Promise<void> {
  await store.insertResource(change.db, resource)
  await setHosts(change, resource, resource.host_node_ids)
  const place = { domainId: resource.domain_id, projectId: resource.project_id }
  for (const reference of referencesOf(resource)) {
    const edge = { subject: `project:${resource.project_id}`, relation: 'project', resource: reference }
    await change.tuples.createStructural(edge, place)
  }
  announce(change, 'ResourceCreated', resource)
}

/** @throws Problem `host_node_not_in_domain`; `bridge_port_conflict` where a bridge and the nodes do not go together. */
async function setHosts(change: Change, resource: Named, nodeIds: readonly string[]): Promise<void> {
  const { db } = change
  const { id, domain_id: domainId, kind } = resource
  const former = await store.listHosts(db, id)
  const held = await store.holdNodes(db, domainId, [...new Set([...former, ...nodeIds])])
  if (nodeIds.some((nodeId) => !held.has(nodeId))) throw problem('host_node_not_in_domain')
  if (kind === 'bridge') await assertHostable(db, id, nodeIds)
  await store.replaceHosts(db, id, nodeIds)
  if (kind === 'bridge') await announceHosts(change, { resourceId: id, domainId }, { former, present: nodeIds })
}

function announce(
  change: Change,
  event: 'ResourceCreated' | 'ResourceUpdated' | 'ResourceDeleted',
  resource: Named,
): void {
  const { id, domain_id, project_id, kind, slug } = resource
  const payload = { resource_id: id, project_id, kind, slug }
  change.emit({ event, domainId: domain_id, aggregate: `resource:${id}`, payload })
}

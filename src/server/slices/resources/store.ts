import { sql, type Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import { bySlug } from '../../sql/keyset.ts'
import type { ResourceRow } from './tables.ts'
import { conflictsAs } from '../../sql/unique.ts'

type ResourceFields = Selectable<ResourceRow>

/** A resource with the nodes that host it, ascending. */
export interface ResourceRecord extends ResourceFields {
  readonly host_node_ids: string[]
}

/** The key of a resource: its Project and its own id. */
export interface ResourcePlace {
  readonly projectId: string
  readonly id: string
}

const HOSTS = sql<string[]>`coalesce((
  select array_agg(hosts.node_id::text order by hosts.node_id)
  from resource_hosts as hosts where hosts.resource_id = resources.id
), '{}')`.as('host_node_ids')

/**
 * Inserts the resource without its hosts.
 * @throws Problem `slug_conflict` where another resource of the Project has the slug.
 */
export async function insertResource(db: Db, { host_node_ids: _hosts, ...resource }: ResourceRecord): Promise<void> {
  const write = db.insertInto('resources').values(resource).execute()
  await conflictsAs(write, { resources_project_slug_key: 'slug_conflict' })
}

export function findResource(db: Db, { projectId, id }: ResourcePlace): Promise<ResourceRecord | undefined> {
  return db
    .selectFrom('resources')
    .selectAll()
    .select(HOSTS)
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .executeTakeFirst()
}

/** Reads the resources of a Project by slug. */
export function listResources(db: Db, projectId: string, range: PageRange): Promise<ResourceRecord[]> {
  const resources = db.selectFrom('resources').selectAll().select(HOSTS).where('project_id', '=', projectId)
  return bySlug.page(resources, range).execute()
}

/** Locks the resource, so that its hosts are replaced by one caller at a time; undefined when it does not exist. */
export async function lockResource(db: Db, { projectId, id }: ResourcePlace): Promise<ResourceFields | undefined> {
  return db
    .selectFrom('resources')
    .selectAll()
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .forUpdate()
    .executeTakeFirst()
}

export async function renameResource(
  db: Db,
  id: string,
  change: { readonly display_name: string; readonly updated_at: Date },
): Promise<void> {
  await db.updateTable('resources').set(change).where('id', '=', id).execute()
}

/** Those of the nodes that are in the Domain, locked against deregistration until the transaction ends. */
export async function holdNodes(db: Db, domainId: string, nodeIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (nodeIds.length === 0) return new Set()
  const nodes = await db
    .selectFrom('nodes')
    .select('id')
    .where('domain_id', '=', domainId)
    .where('id', 'in', nodeIds)
    .orderBy('id')
    .forKeyShare()
    .execute()
  return new Set(nodes.map(({ id }) => id))
}

/** The nodes that host the resource, ascending. */
export async function listHosts(db: Db, resourceId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('resource_hosts')
    .select('node_id')
    .where('resource_id', '=', resourceId)
    .orderBy('node_id')
    .execute()
  return rows.map(({ node_id }) => node_id)
}

/** Replaces the hosts of the resource with these nodes. */
export async function replaceHosts(db: Db, resourceId: string, nodeIds: readonly string[]): Promise<void> {
  await db.deleteFrom('resource_hosts').where('resource_id', '=', resourceId).execute()
  const rows = nodeIds.map((node_id) => ({ resource_id: resourceId, node_id }))
  if (rows.length > 0) await db.insertInto('resource_hosts').values(rows).execute()
}

/** Deletes the resource; the entries of its hosts and what its bridge consists of go with it by their foreign keys. */
export async function deleteResource(db: Db, id: string): Promise<void> {
  await db.deleteFrom('resources').where('id', '=', id).execute()
}

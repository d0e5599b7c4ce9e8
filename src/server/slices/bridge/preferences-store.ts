import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../ports/datastore.ts'

/** Nodes whose effective labels may have changed: some, which may be gone, or all of a Project or Domain. */
export type Concerned =
  | { readonly nodeIds: readonly string[] }
  | { readonly projectId: string }
  | { readonly domainId: string }

/** A node that prefers another bridge than before. */
export interface ChangedPreference {
  readonly nodeId: string
  readonly former: string | null
  readonly present: string | null
  /** Whether the node exists. */
  readonly isThere: boolean
}

/**
 * Stores which bridges the effective labels `platform/relay` of these nodes of a Domain name. Gives the nodes of which
 * that differs from what was stored, by id. To be called under the lock of the Domain's peers.
 */
export async function storePreferences(
  tx: Db,
  domainId: string,
  concerned: Concerned,
): Promise<readonly ChangedPreference[]> {
  const { rows } = await sql<ChangeRow>`
    with ${changedOf(domainId, concerned)},
    gone as (
      delete from relay_preferences using changed where node_id = changed.id and changed.present is null
    ),
    put as (
      insert into relay_preferences (node_id, domain_id, resource_id)
      select id, ${domainId}::uuid, present from changed where present is not null
      on conflict (node_id) do update set resource_id = excluded.resource_id
    )
    select id, is_there, former, present from changed order by id`.execute(tx)
  return rows.map(({ id, is_there, former, present }) => ({ nodeId: id, isThere: is_there, former, present }))
}

/**
 * Whether `storePreferences` would change anything. It needs no lock: a label that is put later has an event of its own, and nothing
 * else stores preferences.
 */
export async function areOutdated(db: Db, domainId: string, concerned: Concerned): Promise<boolean> {
  const { rows } = await sql`with ${changedOf(domainId, concerned)} select from changed limit 1`.execute(db)
  return rows.length > 0
}

/** The subqueries that end with `changed`: nodes that name another bridge than is stored. */
function changedOf(domainId: string, concerned: Concerned): RawBuilder<unknown> {
  return sql`definition as (select id, inherit from label_definitions where qualified_key = 'platform/relay'),
    concerned as (${idsOf(concerned, domainId)}),
    labelled as (
      select concerned.id, node.id is not null as is_there, case when node.id is not null then coalesce(
        ${labelOf('node', sql`node.id`)},
        case when (select inherit from definition)
          then coalesce(${labelOf('project', sql`node.project_id`)}, ${labelOf('domain', sql`node.domain_id`)}) end
      ) end as value
      from concerned left join nodes as node on node.id = concerned.id and node.domain_id = ${domainId}
    ),
    changed as (
      select labelled.id, is_there, stored.resource_id as former, named.resource_id as present
      from labelled
      cross join lateral (select case when value ~ ${UUID} then value::uuid end as resource_id) as named
      left join relay_preferences as stored on stored.node_id = labelled.id
      where stored.resource_id is distinct from named.resource_id
    )`
}

interface ChangeRow {
  readonly id: string
  readonly is_there: boolean
  readonly former: string | null
  readonly present: string | null
}

/** Other texts name no resource: a label may have been put before its value was looked at. */
const UUID = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'

function idsOf(concerned: Concerned, domainId: string): RawBuilder<unknown> {
  if ('nodeIds' in concerned) return sql`select distinct id from unnest(${concerned.nodeIds}::uuid[]) as given (id)`
  if ('projectId' in concerned)
    return sql`select id from nodes where project_id = ${concerned.projectId} and domain_id = ${domainId}`
  return sql`select id from nodes where domain_id = ${concerned.domainId}`
}

function labelOf(kind: 'node' | 'project' | 'domain', id: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    select value from label_assignments as label
    where kind = ${kind} and object_id = ${id} and definition_id = (select id from definition))`
}

/** Whether labels of the Definition with that id are `platform/relay`. */
export async function isRelayLabel(db: Db, definitionId: string): Promise<boolean> {
  const row = await db
    .selectFrom('label_definitions')
    .select('id')
    .where('id', '=', definitionId)
    .where('qualified_key', '=', 'platform/relay')
    .executeTakeFirst()
  return row !== undefined
}

/** The Domains in which nodes prefer a bridge, or may: by id. */
export async function preferringDomains(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<{ domain_id: string }>`
    select object.domain_id
    from label_definitions as definition
    join label_assignments as label on label.definition_id = definition.id
    join label_objects as object on object.kind = label.kind and object.id = label.object_id
    where definition.qualified_key = 'platform/relay' and object.domain_id is not null
    union select domain_id from relay_preferences
    order by domain_id`.execute(db)
  return rows.map((row) => row.domain_id)
}

/** The Domain of a Project; undefined where it is gone. */
export async function domainOfProject(db: Db, projectId: string): Promise<string | undefined> {
  const row = await db.selectFrom('projects').select('domain_id').where('id', '=', projectId).executeTakeFirst()
  return row?.domain_id
}

/** Which of the bridges have a node that carries edges. */
export async function carryingAmong(db: Db, bridgeIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ resource_id: string }>`
    select resource_id from relay_choices where resource_id = any(${bridgeIds}::uuid[])`.execute(db)
  return new Set(rows.map((row) => row.resource_id))
}

/** Locks those of the resources that are bridges of the Domain with a relay, in the order of their ids, which it gives. */
export async function lockRelayBridges(
  tx: Db,
  domainId: string,
  resourceIds: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select resource.id from resources as resource
    where resource.id = any(${resourceIds}::uuid[]) and resource.domain_id = ${domainId}
      and exists (select from bridge_relays as relay where relay.resource_id = resource.id)
    order by resource.id for update`.execute(tx)
  return rows.map(({ id }) => id)
}

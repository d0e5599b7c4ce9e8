import { sql } from 'kysely'
import type { Db } from '../ports/datastore.ts'

/** The nodes whose effective label `platform/relay` names the bridge, ascending (decisions: assignments). */
export async function readAssignedNodes(db: Db, resourceId: string): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    with definition as (select id, inherit from label_definitions where qualified_key = 'platform/relay'),
    naming as (
      select label.kind, object_id from label_assignments as label join definition on label.definition_id = definition.id
      where label.value = ${resourceId} and (label.kind = 'node' or inherit)
    ),
    assigned as (
      select object_id as id from naming where naming.kind = 'node'
      union all
      select node.id from naming join nodes as node on node.project_id = naming.object_id
      where naming.kind = 'project' and ${hasNone('node', sql`node.id`)}
      union all
      select node.id from naming join nodes as node on node.domain_id = naming.object_id
      where naming.kind = 'domain' and ${hasNone('node', sql`node.id`)} and ${hasNone('project', sql`node.project_id`)}
    )
    select node.id from assigned
    join nodes as node on node.id = assigned.id
    join resources as bridge on bridge.id = ${resourceId} and bridge.domain_id = node.domain_id
    order by node.id`.execute(db)
  return rows.map(({ id }) => id)
}

/** A nearer label hides one that is inherited. */
function hasNone(kind: 'node' | 'project', id: ReturnType<typeof sql>) {
  return sql`not exists (
    select from label_assignments as nearer join definition on nearer.definition_id = definition.id
    where nearer.kind = ${kind} and nearer.object_id = ${id})`
}

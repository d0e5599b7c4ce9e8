import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'

/** Reads the Domains of nodes; those that are gone are left out. */
export async function readDomainsOf(tx: Db, nodeIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.selectFrom('nodes').select(['id', 'domain_id']).where('id', 'in', nodeIds).execute()
  return new Map(rows.map(({ id, domain_id }) => [id, domain_id]))
}

/** Whether a policy of the Domain names the Definition. To be asked under the lock of the Domain's policies. */
export async function namesDefinition(tx: Db, domainId: string, definitionId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from selector_definitions as held join policies as policy on held.holder = 'policy:' || policy.id
    where held.definition_id = ${definitionId} and policy.domain_id = ${domainId} limit 1`.execute(tx)
  return rows.length > 0
}

/** Nodes that are to be matched again: those of a Domain, or of a Project of it. */
export interface Rematch {
  readonly id: string
  readonly domainId: string
  readonly projectId: string | null
  readonly definitionId: string | null
  readonly afterNodeId: string | null
}

/** Where labels changed, if not on one node alone. */
export type WideScope = { readonly kind: 'platform' } | { readonly kind: 'domain' | 'project'; readonly id: string }

/**
 * Reads the Domains in which labels of a Definition concern nodes, with the Project where it is one. Of the platform, those
 * whose policies name the Definition: its row is locked, so that none of them is written meanwhile.
 */
export async function readConcerned(
  tx: Db,
  scope: WideScope,
  definitionId: string | null,
): Promise<readonly Pick<Rematch, 'domainId' | 'projectId'>[]> {
  if (scope.kind === 'domain') return readDomain(tx, scope.id)
  if (scope.kind === 'project') return readProject(tx, scope.id)
  if (definitionId === null) return readPoliced(tx)
  await tx.selectFrom('label_definitions').select('id').where('id', '=', definitionId).forUpdate().execute()
  const { rows } = await sql<{ domain_id: string }>`
    select distinct policy.domain_id from selector_definitions as held
    join policies as policy on held.holder = 'policy:' || policy.id
    where held.definition_id = ${definitionId}`.execute(tx)
  return rows.map(({ domain_id: domainId }) => ({ domainId, projectId: null }))
}

async function readDomain(tx: Db, id: string) {
  const domains = await tx.selectFrom('domains').select('id').where('id', '=', id).execute()
  return domains.map(() => ({ domainId: id, projectId: null }))
}

async function readProject(tx: Db, id: string) {
  const projects = await tx.selectFrom('projects').select('domain_id').where('id', '=', id).execute()
  return projects.map(({ domain_id: domainId }) => ({ domainId, projectId: id }))
}

async function readPoliced(tx: Db) {
  const domains = await tx.selectFrom('policies').select('domain_id').distinct().execute()
  return domains.map(({ domain_id: domainId }) => ({ domainId, projectId: null }))
}

/** Adds work that is not already waiting from its beginning. */
export async function addRematches(tx: Db, rematches: readonly Rematch[]): Promise<void> {
  if (rematches.length === 0) return
  await sql`
    insert into policy_rematches (id, domain_id, project_id, definition_id)
    select added.* from unnest(
      ${rematches.map(({ id }) => id)}::uuid[],
      ${rematches.map(({ domainId }) => domainId)}::uuid[],
      ${rematches.map(({ projectId }) => projectId)}::uuid[],
      ${rematches.map(({ definitionId }) => definitionId)}::uuid[]
    ) as added (id, domain_id, project_id, definition_id)
    where not exists (
      select from policy_rematches as waiting
      where waiting.domain_id = added.domain_id and waiting.after_node_id is null
        and waiting.project_id is not distinct from added.project_id
        and waiting.definition_id is not distinct from added.definition_id
    )`.execute(tx)
}

/** The oldest work; undefined where there is none. */
export async function nextRematch(db: Db): Promise<Rematch | undefined> {
  const row = await db.selectFrom('policy_rematches').selectAll().orderBy('id').limit(1).executeTakeFirst()
  return (
    row && {
      id: row.id,
      domainId: row.domain_id,
      projectId: row.project_id,
      definitionId: row.definition_id,
      afterNodeId: row.after_node_id,
    }
  )
}

/** Goes on after that node; undefined: the work is done. */
export async function advanceRematch(tx: Db, id: string, afterNodeId: string | undefined): Promise<void> {
  if (afterNodeId === undefined) await tx.deleteFrom('policy_rematches').where('id', '=', id).execute()
  else await tx.updateTable('policy_rematches').set({ after_node_id: afterNodeId }).where('id', '=', id).execute()
}

import { sql, type Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import { byPlace } from '../../sql/keyset.ts'
import type { NodeState, RolloutNodeRow } from './tables.ts'
import type { SelectedNode, Turn } from './waves.ts'

/** A node of a rollout, under the name that it has now, or had when the rollout started. */
export type ListedNode = Pick<
  Selectable<RolloutNodeRow>,
  'node_id' | 'wave' | 'place' | 'state' | 'reason' | 'execution_id' | 'updated_at'
> & { readonly display_name: string }

export interface NodeFilter {
  readonly rolloutId: string
  readonly state: NodeState | undefined
}

/** Reads the nodes of a rollout in the order of their turns. */
export function listNodes(db: Db, { rolloutId, state }: NodeFilter, range: PageRange): Promise<readonly ListedNode[]> {
  let nodes = db
    .selectFrom('rollout_nodes')
    .leftJoin('nodes', 'nodes.id', 'rollout_nodes.node_id')
    .select(['node_id', 'wave', 'place', 'state', 'reason', 'execution_id', 'rollout_nodes.updated_at'])
    .select(sql<string>`coalesce(nodes.name, rollout_nodes.name)`.as('display_name'))
    .where('rollout_id', '=', rolloutId)
  if (state !== undefined) nodes = nodes.where('state', '=', state)
  return byPlace.page(nodes, range).execute()
}

/** Adds the names of nodes; those that are gone are left out. */
export async function readNamed(db: Db, ids: readonly string[]): Promise<readonly SelectedNode[]> {
  const { rows } = await sql<SelectedNode>`select id, name from nodes where id = any(${ids}::uuid[])`.execute(db)
  return rows
}

/** Whose nodes are written, and when. */
export interface Writing {
  readonly rolloutId: string
  readonly at: Date
}

/** Fixes the nodes of a rollout. */
export async function insertNodes(tx: Db, turns: readonly Turn[], { rolloutId, at }: Writing): Promise<void> {
  await sql`
    insert into rollout_nodes (rollout_id, node_id, name, wave, place, state, updated_at)
    select ${rolloutId}, turn.node_id, turn.name, turn.wave, turn.place, 'pending', ${at}
    from unnest(
      ${turns.map(({ id }) => id)}::uuid[], ${turns.map(({ name }) => name)}::text[],
      ${turns.map(({ wave }) => wave)}::integer[], ${turns.map(({ place }) => place)}::integer[]
    ) as turn (node_id, name, wave, place)`.execute(tx)
}

/** A running or paused rollout of the Domain that has one of the nodes; undefined where there is none. */
export async function findConflict(
  tx: Db,
  domainId: string,
  nodeIds: readonly string[],
): Promise<{ readonly rolloutId: string } | undefined> {
  const { rows } = await sql<{ id: string }>`
    select other.id from rollouts as other
    where other.domain_id = ${domainId} and other.status in ('running', 'paused')
      and exists (
        select from rollout_nodes as taken where taken.rollout_id = other.id and taken.node_id = any(${nodeIds}::uuid[]))
    order by other.id limit 1`.execute(tx)
  return rows[0] && { rolloutId: rows[0].id }
}

/** How many nodes of a wave are in a state. */
export interface Count {
  readonly wave: number
  readonly state: NodeState
  readonly nodes: number
}

export async function countNodes(tx: Db, rolloutId: string): Promise<readonly Count[]> {
  const { rows } = await sql<Count>`
    select wave, state, count(*)::int as nodes from rollout_nodes
    where rollout_id = ${rolloutId} group by wave, state`.execute(tx)
  return rows
}

/** Executions of nodes that are upgrading and that their agents may not have taken up yet. */
export async function readUpgrades(tx: Db, rolloutId: string): Promise<readonly string[]> {
  const { rows } = await sql<{ execution_id: string }>`
    select upgrade.execution_id from rollout_nodes as upgrade
    join executions as execution on execution.id = upgrade.execution_id and execution.status = 'pending'
    where upgrade.rollout_id = ${rolloutId} and upgrade.state = 'upgrading'`.execute(tx)
  return rows.map(({ execution_id }) => execution_id)
}

/** Ends the turns of nodes by their executions. */
export async function skipWithdrawn(
  tx: Db,
  rolloutId: string,
  {
    executionIds,
    reason,
    at,
  }: { readonly executionIds: readonly string[]; readonly reason: string; readonly at: Date },
): Promise<void> {
  await sql`
    update rollout_nodes set state = 'skipped', reason = ${reason}, updated_at = ${at}
    where rollout_id = ${rolloutId} and state = 'upgrading' and execution_id = any(${executionIds}::uuid[])`.execute(tx)
}

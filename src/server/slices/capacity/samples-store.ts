import { sql } from 'kysely'
import type { CapacityDimension, CountedDimension, LevelDimension } from '../../../shared/capacity/dimensions.ts'
import type { Db } from '../../ports/datastore.ts'
import type { ByDomain } from './domain-monitor.ts'
import type { UsageDelta } from './pending-usage.ts'

/** Adds to the shared totals, all or nothing. What a Domain used that was deleted meanwhile is left out. */
export async function addToTotals(db: Db, deltas: readonly UsageDelta[]): Promise<void> {
  const [domains, dimensions, amounts] = [
    deltas.map(({ domainId }) => domainId),
    deltas.map(({ dimension }) => dimension),
    deltas.map(({ delta }) => delta),
  ]
  await sql`
    insert into capacity_totals (domain_id, dimension, total)
    select domains.id, added.dimension, added.amount
    from unnest(${domains}::uuid[], ${dimensions}::text[], ${amounts}::bigint[]) as added (domain_id, dimension, amount)
    join domains on domains.id = added.domain_id
    order by domains.id, added.dimension
    for key share of domains
    on conflict (domain_id, dimension) do update set total = capacity_totals.total + excluded.total`.execute(db)
}

/** Every Domain, and what it has used in all of what is counted. */
export interface Totals {
  readonly domainIds: readonly string[]
  readonly totals: ByDomain<CountedDimension, bigint>
}

export async function readTotals(db: Db): Promise<Totals> {
  const rows = await db
    .selectFrom('domains')
    .leftJoin('capacity_totals as counted', 'counted.domain_id', 'domains.id')
    .select(['domains.id', 'counted.dimension', 'counted.total'])
    .execute()
  const totals = new Map<string, Map<CountedDimension, bigint>>()
  for (const { id, dimension, total } of rows) {
    const own = ownOf(totals, id)
    // Only `addToTotals` writes the column.
    if (dimension !== null && total !== null) own.set(dimension as CountedDimension, BigInt(total))
  }
  return { domainIds: [...totals.keys()], totals }
}

/** Counts nodes, live mediated sessions and unfinished executions. A Domain that has none is missing. */
export async function readLevels(db: Db, now: Date): Promise<ByDomain<LevelDimension, number>> {
  const { rows } = await sql<{ domain_id: string; dimension: LevelDimension; used: number }>`
    select domain_id, 'nodes' as dimension, count(*)::int as used from nodes group by domain_id
    union all
    select domain_id, 'mediated_sessions', count(*)::int from mediated_sessions
    where ended_at is null and expires_at > ${now} group by domain_id
    union all
    select domain_id, 'action_executions', count(*)::int from executions
    where finished_at is null group by domain_id`.execute(db)
  const levels = new Map<string, Map<LevelDimension, number>>()
  for (const { domain_id: id, dimension, used } of rows) ownOf(levels, id).set(dimension, used)
  return levels
}

/** The targets that Domains have of their own. */
export async function readTargets(db: Db): Promise<ByDomain<CapacityDimension, number>> {
  const rows = await db.selectFrom('capacity_targets').selectAll().execute()
  const targets = new Map<string, Map<CapacityDimension, number>>()
  for (const row of rows) ownOf(targets, row.domain_id).set(row.dimension as CapacityDimension, Number(row.target))
  return targets
}

/** Says that a replica lives for so many ms more. Returns how many do. It counts by the datastore's clock, which all of them share. */
export async function announceReplica(db: Db, { id, livesMs }: { readonly id: string; readonly livesMs: number }) {
  const { rows } = await sql<{ replicas: number }>`
    with forgotten as (
      delete from capacity_replicas where lives_until < now() - interval '1 hour' and id <> ${id}
    )
    insert into capacity_replicas (id, lives_until) values (${id}, now() + ${livesMs} * interval '1 millisecond')
    on conflict (id) do update set lives_until = excluded.lives_until
    returning 1 + (
      select count(*)::int from capacity_replicas where lives_until > now() and id <> ${id}
    ) as replicas`.execute(db)
  return rows[0]?.replicas ?? 1
}

export async function forgetReplica(db: Db, id: string): Promise<void> {
  await db.deleteFrom('capacity_replicas').where('id', '=', id).execute()
}

function ownOf<Dimension, Value>(all: Map<string, Map<Dimension, Value>>, domainId: string): Map<Dimension, Value> {
  const found = all.get(domainId)
  if (found !== undefined) return found
  const made = new Map<Dimension, Value>()
  all.set(domainId, made)
  return made
}

import { sql } from 'kysely'
import type { CapacityDimension, LevelDimension } from '../../../shared/capacity/dimensions.ts'
import type { Db } from '../../ports/datastore.ts'
import type { ByDomain } from './domain-monitor.ts'
import { growthADay, type DailyMaximum } from './usage-trend.ts'

/** A sample as the history keeps it. */
export interface HistorySample {
  readonly domainId: string
  readonly dimension: CapacityDimension
  readonly used: number
  readonly target: number
}

/** Raises the maxima of an hour to these samples, and notes their targets. Samples of a Domain that is gone are left out. */
export async function raiseMaxima(tx: Db, hour: Date, samples: readonly HistorySample[]): Promise<void> {
  await sql`
    insert into capacity_history (domain_id, dimension, hour, used_max, target)
    select domains.id, sample.dimension, ${hour}, sample.used, sample.target
    from unnest(
      ${samples.map(({ domainId }) => domainId)}::uuid[], ${samples.map(({ dimension }) => dimension)}::text[],
      ${samples.map(({ used }) => used)}::double precision[], ${samples.map(({ target }) => target)}::bigint[]
    ) as sample (domain_id, dimension, used, target)
    join domains on domains.id = sample.domain_id
    order by domains.id, sample.dimension
    for key share of domains
    on conflict (domain_id, dimension, hour) do update
    set used_max = greatest(capacity_history.used_max, excluded.used_max), target = excluded.target`.execute(tx)
}

/** Which hours of one dimension of a Domain. */
export interface HistoryRange {
  readonly domainId: string
  readonly dimension: CapacityDimension
  readonly since: Date
}

/** One hour of the history. */
export interface HistoryPoint {
  readonly hour: Date
  readonly used_max: number
  readonly target: string
}

/** Reads the hours in their order; undefined when there is no such Domain. */
export async function readHistory(
  db: Db,
  { domainId, dimension, since }: HistoryRange,
): Promise<readonly HistoryPoint[] | undefined> {
  const rows = await db
    .selectFrom('domains')
    .leftJoin('capacity_history as sampled', (join) =>
      join
        .onRef('sampled.domain_id', '=', 'domains.id')
        .on('sampled.dimension', '=', dimension)
        .on('sampled.hour', '>=', since),
    )
    .select(['sampled.hour', 'sampled.used_max', 'sampled.target'])
    .where('domains.id', '=', domainId)
    .orderBy('sampled.hour')
    .execute()
  if (rows.length === 0) return undefined
  return rows.flatMap(({ hour, used_max, target }) =>
    hour === null || used_max === null || target === null ? [] : [{ hour, used_max, target }],
  )
}

/** Days of the history that growth is measured by. */
const DAYS_MAX = 14
const DAY_MS = 86_400_000

/** Growth a day of every level of every Domain, by the days that are over. */
export async function readGrowth(db: Db, nowMs: number): Promise<ByDomain<LevelDimension, number>> {
  const today = Math.floor(nowMs / DAY_MS)
  const { rows } = await sql<{ domain_id: string; dimension: LevelDimension; day: number; max: number }>`
    select domain_id, dimension, floor(extract(epoch from hour) / 86400)::int as day, max(used_max) as max
    from capacity_history
    where dimension in ('nodes', 'mediated_sessions', 'action_executions')
      and hour >= ${new Date((today - DAYS_MAX) * DAY_MS)} and hour < ${new Date(today * DAY_MS)}
    group by 1, 2, 3 order by 1, 2, 3`.execute(db)
  const growth = new Map<string, Map<LevelDimension, number>>()
  for (const [domainId, dimension, days] of grouped(rows)) {
    const perDay = growthADay(days)
    if (perDay === undefined) continue
    growth.set(domainId, (growth.get(domainId) ?? new Map<LevelDimension, number>()).set(dimension, perDay))
  }
  return growth
}

interface DailyRow extends DailyMaximum {
  readonly domain_id: string
  readonly dimension: LevelDimension
}

function grouped(rows: readonly DailyRow[]): readonly [string, LevelDimension, DailyMaximum[]][] {
  const groups: [string, LevelDimension, DailyMaximum[]][] = []
  for (const row of rows) {
    const last = groups.at(-1)
    if (last !== undefined && last[0] === row.domain_id && last[1] === row.dimension) last[2].push(row)
    else groups.push([row.domain_id, row.dimension, [row]])
  }
  return groups
}

import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import { storedReachability } from '../../sql/stored-reachability.ts'
import type { ReachabilitySampleRow } from './tables.ts'

/**
 * Counts the nodes of every Domain that has any by their states at `nowMs`, as the sample of the instant `at`. A sample that is there
 * already stays. A Domain that is deleted meanwhile is left out.
 */
export async function takeSamples(tx: Db, { at, nowMs }: { readonly at: Date; readonly nowMs: number }): Promise<void> {
  await sql`
    insert into reachability_samples (domain_id, at, healthy, stale, unreachable, never_reported)
    select domains.id, ${at}, counted.healthy, counted.stale, counted.unreachable, counted.never_reported
    from (
      select domain_id,
        count(*) filter (where state = 'healthy') as healthy,
        count(*) filter (where state = 'stale') as stale,
        count(*) filter (where state = 'unreachable') as unreachable,
        count(*) filter (where state = 'never_reported') as never_reported
      from (
        select nodes.domain_id, ${storedReachability(nowMs)} as state
        from nodes join node_heartbeats on node_heartbeats.node_id = nodes.id
      ) as states
      group by domain_id
    ) as counted
    join domains on domains.id = counted.domain_id
    order by domains.id
    for key share of domains
    on conflict (domain_id, at) do nothing`.execute(tx)
}

/** Which samples of a Domain: `since` inclusive, `until` exclusive. */
export interface SamplesRange {
  readonly domainId: string
  readonly since: Date
  readonly until: Date
}

type Sample = Omit<ReachabilitySampleRow, 'domain_id'>

/** Reads the samples in their order; undefined when there is no such Domain. */
export async function readSamples(
  db: Db,
  { domainId, since, until }: SamplesRange,
): Promise<readonly Sample[] | undefined> {
  const rows = await db
    .selectFrom('domains')
    .leftJoin('reachability_samples as sample', (join) =>
      join.onRef('sample.domain_id', '=', 'domains.id').on('sample.at', '>=', since).on('sample.at', '<', until),
    )
    .select(['sample.at', 'sample.healthy', 'sample.stale', 'sample.unreachable', 'sample.never_reported'])
    .where('domains.id', '=', domainId)
    .orderBy('sample.at')
    .execute()
  if (rows.length === 0) return undefined
  // A Domain without a sample is one row without values.
  return rows.filter((row): row is Sample => row.at !== null)
}

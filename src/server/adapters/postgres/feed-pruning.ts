import { sql } from 'kysely'
import type { LeaderJob } from '../../ports/leadership.ts'

/**
 * Revisions whose changes are kept: some minutes of a busy deployment. A replica that is further behind has lost its
 * lease long before. It detects the missing changes and reloads everything.
 */
const KEPT = 50_000
const EVERY_MS = 60_000
const REVISIONS_MAX = 2_000

/** Deletes the oldest changes of the feed. */
export function createFeedPruning(kept = KEPT): LeaderJob {
  return {
    name: 'change-feed-pruning',
    everyMs: EVERY_MS,
    run: (leading) =>
      leading.transaction(async (tx) => {
        const { rows } = await sql<{ is_full: boolean }>`
          with oldest as (
            select revision from authz_changes
            where revision <= (select revision - ${kept}::bigint from authz_head where id = 1)
            group by revision order by revision limit ${REVISIONS_MAX}
          ), pruned as (
            delete from authz_changes where revision in (select revision from oldest)
          )
          select count(*) = ${REVISIONS_MAX} as is_full from oldest`.execute(tx)
        return rows[0]?.is_full === true
      }),
  }
}

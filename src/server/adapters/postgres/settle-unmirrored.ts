import { sql } from 'kysely'
import type { Datastore } from '../../ports/datastore.ts'
import type { RelationTupleRow } from '../../ports/tables/authz.ts'
import type { Selectable } from 'kysely'
import type { FollowedFeed } from './change-feed.ts'
import { takeRevision, type PendingChange } from './commit-records.ts'
import { fedTuple } from './tuple-registry.ts'

/**
 * Settles the tuples that SpiceDB had not received when the deployment moved back to the embedded engine: pending
 * tuples become live, revoking ones are deleted. Resolves with the number of settled tuples.
 */
export async function settleUnmirrored(datastore: Datastore, feed: Pick<FollowedFeed, 'committed'>): Promise<number> {
  const found = await datastore
    .pool('interactive')
    .selectFrom('relation_tuples')
    .select('id')
    .where('state', '<>', 'live')
    .limit(1)
    .executeTakeFirst()
  if (found === undefined) return 0
  const { count, changes } = await datastore.transaction('worker', async (tx) => {
    const { rows: gone } = await sql<Selectable<RelationTupleRow>>`
      delete from relation_tuples where state = 'revoking' returning *`.execute(tx)
    const { rows: kept } = await sql`
      update relation_tuples set state = 'live' where state = 'pending' returning id`.execute(tx)
    const deletions = gone.map((row): PendingChange => ({ kind: 'tuple_deleted', payload: fedTuple(row) }))
    return { count: gone.length + kept.length, changes: await takeRevision(tx, deletions) }
  })
  feed.committed(changes)
  return count
}

import { sql } from 'kysely'
import type { FeedChange } from '../../ports/change-feed.ts'
import type { Db } from '../../ports/datastore.ts'

/** Maximum of marks: one for each replica, and some for former replicas. */
const MARKS_MAX = 256
/** Revisions a query reads: small enough that the one session of the embedded store is not held for 200 ms. */
const CHUNK_REVISIONS = 1_000n

/** Creates a mark; deletes the oldest beyond the maximum. */
export async function addMark(db: Db, mark: { mark: string; revision: string; made_at: Date }): Promise<void> {
  await db.insertInto('authz_index_marks').values(mark).execute()
  await sql`
    delete from authz_index_marks where mark in (
      select mark from authz_index_marks order by made_at desc, mark offset ${MARKS_MAX}
    )`.execute(db)
}

/** Whether the history of this database has the mark at that revision. */
export async function hasMark(db: Db, mark: string, revision: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from authz_index_marks where mark::text = ${mark} and revision::text = ${revision}`.execute(db)
  return rows.length > 0
}

export async function countTuples(db: Db): Promise<number> {
  const { tuples } = await db
    .selectFrom('relation_tuples')
    .select((select) => select.fn.countAll<string>().as('tuples'))
    .executeTakeFirstOrThrow()
  return Number(tuples)
}

/**
 * Passes on the changes of every revision after `from`, up to and with `to`, in order. False where some of them are pruned:
 * the changes passed on so far are then incomplete.
 */
export async function changesBetween(
  db: Db,
  { from, to }: { readonly from: bigint; readonly to: bigint },
  take: (change: FeedChange) => void,
): Promise<boolean> {
  for (let after = from; after < to; after += CHUNK_REVISIONS) {
    const until = after + CHUNK_REVISIONS < to ? after + CHUNK_REVISIONS : to
    const { rows } = await sql<{ revision: string; kind: FeedChange['kind']; payload: unknown }>`
      select revision, kind, payload from authz_changes
      where revision > ${after}::bigint and revision <= ${until}::bigint
      order by revision, ordinal`.execute(db)
    const revisions = new Set(rows.map(({ revision }) => revision))
    if (BigInt(revisions.size) !== until - after) return false
    // The unit of work wrote the row from a FeedChange; JSON gives back the same shape.
    for (const row of rows) take({ ...row, revision: BigInt(row.revision) } as FeedChange)
  }
  return true
}

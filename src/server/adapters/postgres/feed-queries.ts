import { sql } from 'kysely'
import type { FeedChange } from '../../ports/change-feed.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'

/** The head, and the changes after the given revision up to it, in one snapshot. */
export interface HeadAndChanges {
  readonly head: bigint
  /** By revision, in order; a revision missing before the last one was pruned. */
  readonly byRevision: ReadonlyMap<bigint, FeedChange[]>
}

interface ChangeRow {
  head: string
  revision: string | null
  kind: FeedChange['kind']
  payload: unknown
}

/** Reads the head and the changes after a revision, at most `revisionsMax` revisions of them. */
export async function readChanges(db: Db, after: bigint, revisionsMax: number): Promise<HeadAndChanges> {
  const { rows } = await sql<ChangeRow>`
    select head.revision as head, change.revision, change.kind, change.payload
    from authz_head as head
    left join authz_changes as change
      on change.revision > ${after}::bigint and change.revision <= ${after + BigInt(revisionsMax)}::bigint
    where head.id = 1
    order by change.revision, change.ordinal`.execute(db)
  const [first] = rows
  if (first === undefined) throw new Error('authz_head has no row')
  const byRevision = new Map<bigint, FeedChange[]>()
  for (const { revision, kind, payload } of rows) {
    if (revision === null) continue
    // The unit of work wrote the row from a FeedChange; JSON gives back the same shape.
    const change = { revision: BigInt(revision), kind, payload } as FeedChange
    const changes = byRevision.get(change.revision)
    if (changes === undefined) byRevision.set(change.revision, [change])
    else changes.push(change)
  }
  return { head: BigInt(first.head), byRevision }
}

/** Runs `read` on a read-only snapshot of the datastore, with the revision of that snapshot. */
export function readSnapshot(
  datastore: Datastore,
  read: (snapshot: Db, revision: bigint) => Promise<void>,
): Promise<bigint> {
  return datastore
    .pool('bulk')
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (tx) => {
      const { revision } = await tx.selectFrom('authz_head').select('revision').executeTakeFirstOrThrow()
      await read(tx, BigInt(revision))
      return BigInt(revision)
    })
}

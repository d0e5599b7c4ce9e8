import { sql } from 'kysely'
import type { FeedChange } from '../../ports/change-feed.ts'
import type { Db } from '../../ports/datastore.ts'

/** A change before its revision is known. */
export type PendingChange = FeedChange extends infer C ? (C extends FeedChange ? Omit<C, 'revision'> : never) : never

/** Whether SpiceDB may miss it: a tuple written by a process that knows of none. */
function isUnmirrored(change: PendingChange): boolean {
  const isTuple = change.kind === 'tuple_touched' || change.kind === 'tuple_deleted'
  return isTuple && change.payload.mirrored !== true
}

/**
 * Numbers the transaction and records what it changed under that number. The last statement, because the head's row lock
 * is held until the commit and every other change waits for it.
 */
export async function takeRevision(db: Db, pending: readonly PendingChange[]): Promise<FeedChange[]> {
  if (pending.length === 0) return []
  const touched = pending.flatMap((change) => (change.kind === 'tuple_touched' ? [change.payload.id] : []))
  const zedToken = pending.findLast((change) => change.kind === 'tuples_settled')?.payload.zedToken ?? null
  const { rows } = await sql<{ revision: string }>`
    with head as (
           update authz_head set
             revision = revision + 1,
             zed_token = coalesce(${zedToken}::text, zed_token),
             unmirrored_revision =
               case when ${pending.some(isUnmirrored)}::boolean then revision + 1 else unmirrored_revision end
           where id = 1 returning revision
         ),
         stamped as (
           update relation_tuples set revision = head.revision from head where relation_tuples.id = any(${touched}::uuid[])
         )
    insert into authz_changes (revision, ordinal, kind, payload)
    select head.revision, change.ordinal, change.kind, change.payload::jsonb
    from head, unnest(
      ${pending.map(({ kind }) => kind)}::text[], ${pending.map(({ payload }) => JSON.stringify(payload))}::text[]
    ) with ordinality as change (kind, payload, ordinal)
    returning revision`.execute(db)
  const [first] = rows
  if (first === undefined) throw new Error('authz_head has no row')
  const revision = BigInt(first.revision)
  return pending.map((change) => ({ ...change, revision }))
}

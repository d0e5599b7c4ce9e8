import { sql } from 'kysely'
import type { Db } from '../ports/datastore.ts'
import type { NumberedEvent } from '../ports/outbox.ts'

/** Whether a row waits for its number. */
export async function hasUnnumbered(db: Db): Promise<boolean> {
  const row = await db.selectFrom('outbox').select('id').where('seq', 'is', null).limit(1).executeTakeFirst()
  return row !== undefined
}

/**
 * Numbers up to `max` rows that have become visible, in the order of their ids, from the counter whose lock it takes.
 * Two writers of one thing wait for each other before they append, so that the later one's row has the higher id and
 * is not visible sooner; a row of a transaction that is still open is passed by and numbered when it is there.
 *
 * @returns how many.
 */
export async function numberRows(tx: Db, max: number): Promise<number> {
  const head = await tx
    .selectFrom('outbox_head')
    .select('seq')
    .where('id', '=', 1)
    .forUpdate()
    .executeTakeFirstOrThrow()
  const { numAffectedRows = 0n } = await sql`
    update outbox set seq = ${head.seq}::bigint + fresh.place
    from (
      select id, row_number() over (order by id) as place
      from (select id from outbox where seq is null order by id limit ${max}) as oldest
    ) as fresh
    where outbox.id = fresh.id`.execute(tx)
  if (numAffectedRows === 0n) return 0
  const seq = BigInt(head.seq) + numAffectedRows
  await tx.updateTable('outbox_head').set({ seq: seq.toString() }).where('id', '=', 1).execute()
  return Number(numAffectedRows)
}

/** Lets a consumer begin with the oldest row that is kept, unless it is known already. */
export async function registerConsumer(tx: Db, name: string): Promise<void> {
  await sql`
    insert into outbox_consumers (name, seq)
    select ${name}, coalesce((select min(seq) - 1 from outbox), seq) from outbox_head where id = 1
    on conflict (name) do nothing`.execute(tx)
}

/** Whether there are numbered rows that the consumer has not taken. */
export async function hasUnread(db: Db, name: string): Promise<boolean> {
  const { rows } = await sql<{ unread: boolean }>`
    select head.seq > cursor.seq as unread from outbox_head as head, outbox_consumers as cursor
    where head.id = 1 and cursor.name = ${name}`.execute(db)
  return rows[0]?.unread === true
}

/** The last number that the consumer has taken, locked until the transaction ends. */
export async function lockCursor(tx: Db, name: string): Promise<bigint> {
  const { seq } = await tx
    .selectFrom('outbox_consumers')
    .select('seq')
    .where('name', '=', name)
    .forUpdate()
    .executeTakeFirstOrThrow()
  return BigInt(seq)
}

export async function moveCursor(tx: Db, name: string, seq: bigint): Promise<void> {
  await tx.updateTable('outbox_consumers').set({ seq: seq.toString() }).where('name', '=', name).execute()
}

/** Reads up to `max` rows after that number. */
export async function readAfter(tx: Db, seq: bigint, max: number): Promise<NumberedEvent[]> {
  const rows = await tx
    .selectFrom('outbox')
    .select(['seq', 'event', 'domain_id', 'aggregate', 'payload', 'correlation_id', 'occurred_at'])
    .where('seq', '>', seq.toString())
    .orderBy('seq')
    .limit(max)
    .execute()
  return rows.flatMap((row) =>
    row.seq === null
      ? []
      : [
          {
            seq: BigInt(row.seq),
            event: row.event,
            domainId: row.domain_id,
            aggregate: row.aggregate,
            payload: row.payload,
            correlationId: row.correlation_id,
            occurredAt: row.occurred_at,
          },
        ],
  )
}

/** How far each consumer is behind, in rows, and how many rows wait for a number. */
export interface OutboxLag {
  readonly unnumbered: number
  readonly consumers: readonly { readonly name: string; readonly rows: number }[]
}

export async function readLag(db: Db): Promise<OutboxLag> {
  const { rows } = await sql<{ name: string | null; behind: number; unnumbered: number }>`
    select c.name, (h.seq - c.seq)::integer as behind,
      (select count(*)::integer from (select from outbox where seq is null limit 10000) as waiting) as unnumbered
    from outbox_head as h left join outbox_consumers as c on true`.execute(db)
  return {
    unnumbered: rows[0]?.unnumbered ?? 0,
    consumers: rows.flatMap(({ name, behind }) => (name === null ? [] : [{ name, rows: behind }])),
  }
}

/**
 * Looks at the `max` lowest numbers that every consumer has passed, and deletes those from before that moment. Nothing
 * is deleted until each of `names` is known.
 *
 * @returns how many were deleted.
 */
export async function pruneRows(
  tx: Db,
  { names, before, max }: { readonly names: readonly string[]; readonly before: Date; readonly max: number },
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from outbox
    where seq in (
      select seq from outbox
      where seq <= (select min(seq) from outbox_consumers
        having count(*) filter (where name = any(${names}::text[])) = ${names.length}::integer)
      order by seq limit ${max}
    ) and occurred_at < ${before}`.execute(tx)
  return Number(numAffectedRows)
}

import { sql } from 'kysely'
import type { Db } from '../ports/datastore.ts'
import type { NumberedEvent } from '../ports/outbox.ts'

/** Whether there is a row without a number. */
export async function hasUnnumbered(db: Db): Promise<boolean> {
  const row = await db.selectFrom('outbox').select('id').where('seq', 'is', null).limit(1).executeTakeFirst()
  return row !== undefined
}

/**
 * Numbers up to `max` visible rows in the order of their ids, and locks the counter until the transaction ends. Two writers
 * of one object wait for each other before they append, so the later row has the higher id and becomes visible later. Rows
 * of open transactions are skipped and numbered once they are committed. The rows are selected before the lock is taken, so
 * only a transaction of the leader's term may call it: there is never a second one.
 *
 * @returns the number of rows.
 */
export async function numberRows(tx: Db, max: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    with fresh as (
      select id, row_number() over (order by id) as place
      from (select id from outbox where seq is null order by id limit ${max}) as oldest
    ), head as (
      update outbox_head set seq = seq + (select count(*) from fresh) where id = 1
      returning seq - (select count(*) from fresh) as base
    )
    update outbox set seq = head.base + fresh.place from fresh, head where outbox.id = fresh.id`.execute(tx)
  return Number(numAffectedRows)
}

/** Registers a consumer; it starts with the oldest stored row. Does nothing if it is registered. */
export async function registerConsumer(tx: Db, name: string): Promise<void> {
  await sql`
    insert into outbox_consumers (name, seq)
    select ${name}, coalesce((select min(seq) - 1 from outbox), seq) from outbox_head where id = 1
    on conflict (name) do nothing`.execute(tx)
}

/** Whether there are numbered rows that the consumer has not processed. */
export async function hasUnread(db: Db, name: string): Promise<boolean> {
  const { rows } = await sql<{ unread: boolean }>`
    select head.seq > cursor.seq as unread from outbox_head as head, outbox_consumers as cursor
    where head.id = 1 and cursor.name = ${name}`.execute(db)
  return rows[0]?.unread === true
}

export async function moveCursor(tx: Db, name: string, seq: bigint): Promise<void> {
  await tx.updateTable('outbox_consumers').set({ seq: seq.toString() }).where('name', '=', name).execute()
}

/** The next rows for a consumer. */
export interface Unread {
  /** Number of the last row that it processed. */
  readonly cursor: bigint
  readonly events: readonly NumberedEvent[]
}

/**
 * Locks the consumer's cursor until the transaction ends, and reads up to `max` rows after it.
 *
 * @throws Error if the consumer is not registered.
 */
export async function readUnread(tx: Db, name: string, max: number): Promise<Unread> {
  const { rows } = await sql<UnreadRow>`
    select own.seq as cursor, event.seq, event.event, event.domain_id, event.aggregate, event.payload,
      event.correlation_id, event.occurred_at
    from (select seq from outbox_consumers where name = ${name} for update) as own
    left join lateral (select * from outbox where seq > own.seq order by seq limit ${max}) as event on true
    order by event.seq`.execute(tx)
  const [first] = rows
  if (first === undefined) throw new Error(`the outbox has no consumer ${name}`)
  return { cursor: BigInt(first.cursor), events: rows.flatMap(eventOf) }
}

type UnreadRow = { readonly cursor: string } & (EventRow | { readonly seq: null })

interface EventRow {
  readonly seq: string
  readonly event: string
  readonly domain_id: string | null
  readonly aggregate: string
  readonly payload: unknown
  readonly correlation_id: string
  readonly occurred_at: Date
}

function eventOf(row: UnreadRow): NumberedEvent[] {
  if (row.seq === null) return []
  const { event, domain_id: domainId, aggregate, payload, correlation_id: correlationId, occurred_at: occurredAt } = row
  return [{ seq: BigInt(row.seq), event, domainId, aggregate, payload, correlationId, occurredAt }]
}

/** Backlog: rows without a number, counted up to 10,000, and unprocessed rows per consumer. */
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
 * Takes the `max` oldest rows that every consumer has processed, and deletes those from before `before`. Deletes nothing
 * until each of `names` is registered.
 *
 * @returns the number of deleted rows.
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

import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'

/** Something that is not as it must be. */
export interface Finding {
  readonly subject: string
  readonly found: string
}

interface DrawnColumn {
  readonly table: string
  readonly column: string
  readonly sequence: string
}

/** Compares each sequence with the values in its column. Resolves with the number of sequences, and those behind. */
export async function readSequencesBehind(db: Db): Promise<{ readonly count: number; readonly behind: Finding[] }> {
  const { rows: drawn } = await sql<DrawnColumn>`
    select class.relname::text as "table", attname::text as "column",
      pg_get_serial_sequence(quote_ident(class.relname), attname) as sequence
    from pg_attribute join pg_class as class on class.oid = attrelid
    where class.relnamespace = current_schema()::regnamespace and class.relkind in ('r', 'p')
      and attnum > 0 and not attisdropped and pg_get_serial_sequence(quote_ident(class.relname), attname) is not null
    order by 1, 2`.execute(db)
  const behind: Finding[] = []
  for (const { table, column, sequence } of drawn) {
    const { rows } = await sql<{ is_behind: boolean }>`
      select coalesce((select max(${sql.ref(column)}) from ${sql.table(table)})::bigint
        >= case when is_called then last_value + 1 else last_value end, false) as is_behind
      from ${sql.raw(sequence)}`.execute(db)
    if (rows[0]?.is_behind === true) behind.push({ subject: `${table}.${column}`, found: sequence })
  }
  return { count: drawn.length, behind }
}

/** The Domains with a chain; null is the platform. */
export async function readChainDomains(db: Db): Promise<(string | null)[]> {
  const rows = await db.selectFrom('audit_chains').select('domain_id').orderBy('id').execute()
  return rows.map(({ domain_id: domainId }) => domainId)
}

/** Counts of audit rows. */
export interface AuditCounts {
  readonly rows: number
  readonly sealed: number
  /** Those that wait for their seal. */
  readonly waiting: number
}

export async function countAudit(db: Db): Promise<AuditCounts> {
  const { rows } = await sql<{ rows: string; sealed: string; waiting: string }>`
    select (select count(*) from audit) as rows, (select count(*) from audit_seals) as sealed,
      (select coalesce(sum(row_count), 0) from audit_unsealed) as waiting`.execute(db)
  const [found = { rows: '0', sealed: '0', waiting: '0' }] = rows
  return { rows: Number(found.rows), sealed: Number(found.sealed), waiting: Number(found.waiting) }
}

/** Counts tuples with a revision that was not given out yet. */
export async function countTuplesAhead(db: Db): Promise<number> {
  const { rows } = await sql<{ count: string }>`
    select count(*) as count from relation_tuples
    where revision > (select revision from authz_head where id = 1)`.execute(db)
  return Number(rows[0]?.count ?? 0)
}

/** Numbers of the outbox. */
export interface OutboxNumbers {
  /** The lowest and the highest number of a row; undefined where there are none. */
  readonly first: bigint | undefined
  readonly last: bigint | undefined
  /** The last number that was given. */
  readonly head: bigint
  /** What every consumer has processed: older rows may be deleted, in any order. */
  readonly processed: bigint
  /** Rows with a later number. */
  readonly unprocessed: bigint
}

interface OutboxNumbersRow {
  readonly first: string | null
  readonly last: string | null
  readonly head: string
  readonly processed: string
  readonly unprocessed: string
}

export async function readOutboxNumbers(db: Db): Promise<OutboxNumbers> {
  const { rows } = await sql<OutboxNumbersRow>`
    select min(outbox.seq) as first, max(outbox.seq) as last, head.seq as head, lowest.seq as processed,
      count(outbox.seq) filter (where outbox.seq > lowest.seq) as unprocessed
    from (select seq from outbox_head where id = 1) as head
    cross join lateral (select coalesce(min(seq), head.seq) as seq from outbox_consumers) as lowest
    left join outbox on outbox.seq is not null
    group by head.seq, lowest.seq`.execute(db)
  const [found] = rows
  if (found === undefined) throw new Error('the outbox has no head')
  const { first, last, head, processed, unprocessed } = found
  return {
    first: first === null ? undefined : BigInt(first),
    last: last === null ? undefined : BigInt(last),
    head: BigInt(head),
    processed: BigInt(processed),
    unprocessed: BigInt(unprocessed),
  }
}

/** Every consumer of the outbox with the last number that it processed. */
export async function readCursors(db: Db): Promise<{ readonly name: string; readonly seq: bigint }[]> {
  const rows = await db.selectFrom('outbox_consumers').select(['name', 'seq']).orderBy('name').execute()
  return rows.map(({ name, seq }) => ({ name, seq: BigInt(seq) }))
}

/**
 * Reads the lanes of nodes. Resolves with their number and those whose stored events have a gap, a number above the last
 * one given, or, where some are undelivered, no event with the last one.
 */
export async function readLanes(db: Db): Promise<{ readonly count: number; readonly broken: Finding[] }> {
  const { rows: counted } = await sql<{ count: string }>`select count(*) as count from node_lanes`.execute(db)
  const { rows } = await sql<{ node_id: string; found: string }>`
    select lane.node_id,
      case when stored.last > lane.last_seq then 'a number above the last one given' else 'a gap' end as found
    from node_lanes as lane
    join (
      select node_id, min(node_seq) as first, max(node_seq) as last, count(*) as count, bool_or(is_waiting) as is_waiting
      from (
        select node_id, node_seq, bool_or(is_waiting) as is_waiting from (
          select node_id, node_seq, true as is_waiting from outgoing_events
          union all select node_id, node_seq, false from event_log
        ) as copies group by node_id, node_seq
      ) as numbers group by node_id
    ) as stored on stored.node_id = lane.node_id
    where stored.last > lane.last_seq or stored.last - stored.first + 1 <> stored.count
      or (stored.is_waiting and stored.last <> lane.last_seq)
    order by lane.node_id`.execute(db)
  const broken = rows.map(({ node_id: nodeId, found }) => ({ subject: `node:${nodeId}`, found }))
  return { count: Number(counted[0]?.count ?? 0), broken }
}

/** Whether the head of the event log is at or above every stored event, and its marks are at or below it. */
export async function isEventHeadSound(db: Db): Promise<boolean> {
  const { rows } = await sql<{ sound: boolean }>`
    select pruned_seq <= seq and counted_seq <= seq
      and seq >= coalesce((select max(seq) from event_log), 0) as sound
    from event_log_head where id = 1`.execute(db)
  return rows[0]?.sound === true
}

/** A column with bytes under a key of the ring. */
export interface SealedColumn {
  readonly table: string
  readonly column: string
}

/** Every such column but that of the ring itself: by convention its name ends in `sealed`. */
export async function readSealedColumns(db: Db): Promise<SealedColumn[]> {
  const { rows } = await sql<SealedColumn>`
    select class.relname::text as "table", attname::text as "column"
    from pg_attribute join pg_class as class on class.oid = attrelid
    where class.relnamespace = current_schema()::regnamespace and class.relkind in ('r', 'p')
      and attnum > 0 and not attisdropped and atttypid = 'bytea'::regtype
      and attname ~ '(^|_)sealed$' and class.relname <> 'keyring'
    order by 1, 2`.execute(db)
  return rows
}

/** Reads the ids of the keys that sealed the values of a column. Byte 1 of a value is the length of the id. */
export async function readSealingKeys(
  db: Db,
  { table, column }: SealedColumn,
): Promise<{ readonly keyId: string; readonly values: number }[]> {
  const value = sql.ref(column)
  const { rows } = await sql<{ key_id: Buffer | null; values: string }>`
    select case when length(${value}) > 2 then substring(${value} from 3 for get_byte(${value}, 1)) end as key_id,
      count(*) as values
    from ${sql.table(table)} where ${value} is not null group by 1`.execute(db)
  return rows.map(({ key_id: id, values }) => ({ keyId: id?.toString('latin1') ?? '', values: Number(values) }))
}

/** Reads the sealed preshared keys of nodes after one id, in the order of their ids. */
export function readPresharedKeys(
  db: Db,
  after: string | undefined,
  count: number,
): Promise<{ id: string; psk_sealed: Buffer }[]> {
  const page = db.selectFrom('nodes').select(['id', 'psk_sealed']).orderBy('id').limit(count)
  return (after === undefined ? page : page.where('id', '>', after)).execute()
}

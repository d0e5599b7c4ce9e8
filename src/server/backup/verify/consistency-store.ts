import { sql } from 'kysely'
import type { Datastore, Db } from '../../ports/datastore.ts'
import type { SealedColumn } from './sealed-columns.ts'

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

/** Bytes of the database. */
export async function readDatabaseBytes(db: Db): Promise<number> {
  const { rows } = await sql<{ bytes: string }>`select pg_database_size(current_database()) as bytes`.execute(db)
  return Number(rows[0]?.bytes ?? 0)
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

/** Counts the lanes of nodes, and names those ahead of the outbox: their nodes would miss the changes up to there. */
export async function readLanes(db: Db): Promise<{ readonly count: number; readonly ahead: readonly string[] }> {
  const { rows: counted } = await sql<{ count: string }>`select count(*) as count from node_lanes`.execute(db)
  const { rows } = await sql<{ node_id: string }>`
    select node_id from node_lanes where hinted_seq > (select seq from outbox_head where id = 1)
    order by node_id`.execute(db)
  return { count: Number(counted[0]?.count ?? 0), ahead: rows.map(({ node_id: nodeId }) => nodeId) }
}

/** Whether the marks of the event log are at or below its head. */
export async function isEventHeadSound(db: Db): Promise<boolean> {
  const { rows } = await sql<{ sound: boolean }>`
    select pruned_seq <= seq and counted_seq <= seq as sound from event_log_head where id = 1`.execute(db)
  return rows[0]?.sound === true
}

/** Tables of the objects of each type; a platform has no row. Both halves of a principal are in one table. */
const OBJECT_TABLES: Readonly<Record<string, string>> = {
  cloud: 'clouds',
  cloudcredential: 'cloud_credentials',
  domain: 'domains',
  group: 'groups',
  labeldefinition: 'label_definitions',
  network: 'resources',
  node: 'nodes',
  project: 'projects',
  provider_bundle: 'provider_bundles',
  resource: 'resources',
  serviceaccount: 'principals',
  token: 'api_tokens',
  user: 'principals',
  workload: 'resources',
}

/** Counts the tuples of each type on objects that are gone: what deletes an object deletes its tuples with it. */
export async function countTuplesOfNothing(
  db: Db,
): Promise<readonly { readonly type: string; readonly count: number }[]> {
  const found = []
  for (const [type, table] of Object.entries(OBJECT_TABLES)) {
    const { rows } = await sql<{ count: string }>`
      select count(*) as count from relation_tuples as tuple
      where resource_type = ${type} and state = 'live'
        and not exists (select from ${sql.table(table)} as object where object.id::text = tuple.resource_id)`.execute(
      db,
    )
    found.push({ type, count: Number(rows[0]?.count ?? 0) })
  }
  return found.filter(({ count }) => count > 0)
}

/** A value of a sealed column. */
export interface SealedValue {
  readonly rowId: string
  readonly sealed: Buffer
}

/** Values that are in memory at a time: one may have more than a megabyte. */
const VALUES_AT_ONCE = 50

/** Visits every value of a column, one after another. */
export async function eachSealedValue(
  datastore: Datastore,
  { table, column, rowId }: SealedColumn,
  visit: (value: SealedValue) => Promise<void>,
): Promise<void> {
  await datastore.transaction('bulk', async (tx) => {
    await sql`
      declare sealed_values no scroll cursor for
      select ${sql.raw(rowId)} as "rowId", ${sql.ref(column)} as sealed from ${sql.table(table)}
      where ${sql.ref(column)} is not null`.execute(tx)
    for (;;) {
      const { rows } = await sql<SealedValue>`fetch ${sql.raw(String(VALUES_AT_ONCE))} from sealed_values`.execute(tx)
      for (const value of rows) await visit(value)
      if (rows.length < VALUES_AT_ONCE) return
    }
  })
}

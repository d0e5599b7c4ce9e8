import { sql, type Selectable } from 'kysely'
import type { FeedChange } from '../../ports/change-feed.ts'
import type { Db } from '../../ports/datastore.ts'
import type { RelationTupleRow } from '../../ports/tables/authz.ts'
import type { Binding } from '../../ports/tuple-mirror.ts'
import { takeRevision, type PendingChange } from '../postgres/commit-records.ts'
import { fedTuple } from '../postgres/tuple-registry.ts'
import { bindingKey } from './names.ts'

export type SettledRow = Selectable<RelationTupleRow>

/** Key of the advisory lock for settling tuples; next to that of migrations. */
const SETTLING_LOCK = 7_210_443_002
/** Longer than the holder of the lock waits for SpiceDB, whose deadline is two seconds. */
const LOCK_MS = 3_000

/**
 * Blocks other processes that settle tuples until the transaction ends: writes to SpiceDB then have the order in which
 * the registry was read.
 */
export async function lockSettling(tx: Db): Promise<void> {
  await sql`select set_config('lock_timeout', ${String(LOCK_MS)}, true)`.execute(tx)
  await sql`select pg_advisory_xact_lock(${SETTLING_LOCK}::bigint)`.execute(tx)
}

/** Every tuple of the bindings, in any state. */
export async function readBindings(db: Db, bindings: readonly Binding[]): Promise<readonly SettledRow[]> {
  const column = (name: keyof Binding): string[] => bindings.map((binding) => binding[name])
  const { rows } = await sql<SettledRow>`
    select distinct tuple.*
    from relation_tuples as tuple
    join unnest(
      ${column('subject_type')}::text[], ${column('subject_id')}::text[], ${column('subject_relation')}::text[],
      ${column('relation')}::text[], ${column('resource_type')}::text[], ${column('resource_id')}::text[]
    ) as binding (subject_type, subject_id, subject_relation, relation, resource_type, resource_id)
      on tuple.resource_type = binding.resource_type and tuple.resource_id = binding.resource_id
      and tuple.relation = binding.relation and tuple.subject_type = binding.subject_type
      and tuple.subject_id = binding.subject_id and tuple.subject_relation = binding.subject_relation`.execute(db)
  return rows
}

/**
 * The tuple of each binding that SpiceDB must have, by `bindingKey`: the tuple without a caveat, since it grants
 * everything that the others grant, else the one with the first caveat by name.
 */
export function wantedRows(rows: readonly SettledRow[]): ReadonlyMap<string, SettledRow> {
  const wanted = new Map<string, SettledRow>()
  for (const row of rows) {
    const before = wanted.get(bindingKey(row))
    const isFirst = before === undefined || row.caveat_name < before.caveat_name
    if (row.state !== 'revoking' && isFirst) wanted.set(bindingKey(row), row)
  }
  return wanted
}

/** Unsettled tuples in the order of their ids, at most `count`. */
export function readUnsettled(db: Db, count: number): Promise<SettledRow[]> {
  return db.selectFrom('relation_tuples').selectAll().where('state', '<>', 'live').orderBy('id').limit(count).execute()
}

/** Tuples of resources of a type, in the order of their ids, those after `last`. */
export function readTuples(db: Db, { type, last, count }: TuplePage): Promise<SettledRow[]> {
  return db
    .selectFrom('relation_tuples')
    .selectAll()
    .where('resource_type', '=', type)
    .$if(last !== undefined, (query) => query.where('id', '>', last ?? ''))
    .orderBy('id')
    .limit(count)
    .execute()
}

export interface TuplePage {
  readonly type: string
  readonly last: string | undefined
  readonly count: number
}

/** The last revision whose tuples SpiceDB may lack; null when it has all. */
export async function readUnmirrored(db: Db): Promise<string | null> {
  const head = await db.selectFrom('authz_head').select('unmirrored_revision').executeTakeFirstOrThrow()
  return head.unmirrored_revision
}

/** Records that SpiceDB has every revision up to that one; false where later ones exist. */
export async function setMirrored(db: Db, upTo: string): Promise<boolean> {
  const updated = await db
    .updateTable('authz_head')
    .set({ unmirrored_revision: null })
    .where('unmirrored_revision', '=', upTo)
    .returning('id')
    .executeTakeFirst()
  return updated !== undefined
}

/** Number of bindings that have several caveats and no tuple without one: SpiceDB can keep only one caveat of each. */
export async function countSecondCaveats(db: Db): Promise<number> {
  const { rows } = await sql<{ bindings: number }>`
    select count(*)::int as bindings from (
      select from relation_tuples where state <> 'revoking'
      group by subject_type, subject_id, subject_relation, relation, resource_type, resource_id
      having count(*) > 1 and min(caveat_name) <> ''
    ) as several`.execute(db)
  return rows[0]?.bindings ?? 0
}

/** The rows that a write to SpiceDB settled. */
export interface SettledWrite {
  readonly rows: readonly SettledRow[]
  /** Undefined if nothing had to be sent to SpiceDB. */
  readonly zedToken: string | undefined
}

/**
 * Records that SpiceDB has received the rows: pending ones become live, revoking ones are deleted. Rows that changed
 * since they were sent keep their state.
 */
export async function conclude(tx: Db, { rows, zedToken }: SettledWrite): Promise<readonly FeedChange[]> {
  const idsIn = (state: SettledRow['state']): string[] => rows.filter((row) => row.state === state).map(({ id }) => id)
  await sql`
    update relation_tuples set state = 'live'
    where id = any(${idsIn('pending')}::uuid[]) and state = 'pending'`.execute(tx)
  const { rows: gone } = await sql<SettledRow>`
    delete from relation_tuples
    where id = any(${idsIn('revoking')}::uuid[]) and state = 'revoking' returning *`.execute(tx)
  const changes = gone.map((row): PendingChange => {
    return { kind: 'tuple_deleted', payload: { ...fedTuple(row), mirrored: true } }
  })
  if (zedToken !== undefined) changes.push({ kind: 'tuples_settled', payload: { zedToken } })
  return takeRevision(tx, changes)
}

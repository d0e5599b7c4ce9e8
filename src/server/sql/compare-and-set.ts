import { sql, type Kysely, type QueryExecutorProvider, type RawBuilder, type Selectable, type Updateable } from 'kysely'
import { problem, type PlainProblemCode } from '../../shared/problems.ts'

// Optimistic concurrency: a row that was read is changed only if nobody changed it since. A lock would make the second
// writer wait and overwrite, so that no caller would ever learn of the first (S1 Provider bundles 4, Clouds 4 and 5).

/** Tables whose rows are found by `id`. */
type Identified<DB> = { [T in keyof DB & string]: Selectable<DB[T]> extends { id: string } ? T : never }[keyof DB &
  string]

/** Those whose rows also count their changes in `row_version`. */
type Versioned<DB> = {
  [T in Identified<DB>]: Selectable<DB[T]> extends { row_version: number } ? T : never
}[Identified<DB>]

interface Codes {
  /** Another writer changed the row since it was read. */
  readonly stale: PlainProblemCode
  /** The row was deleted since it was read. */
  readonly gone: PlainProblemCode
}

/** A change of a row that was read at a version. `set` names one column at least. */
export interface VersionedChange<Row> extends Codes {
  readonly id: string
  readonly version: number
  readonly set: Omit<Updateable<Row>, 'id' | 'row_version'>
}

/** A change of a row of which some columns were read; none where `asRead` is empty. `set` names one column at least. */
export interface AssertedChange<Row> extends Codes {
  readonly id: string
  readonly asRead: Partial<Selectable<Row>>
  readonly set: Omit<Updateable<Row>, 'id'>
}

/**
 * Changes a row of the version that was read and raises `row_version` by one. Gives the row as it is now.
 *
 * @throws Problem `stale` when the row has another version, `gone` when there is no such row; nothing is changed then.
 */
export function updateIfVersion<DB, T extends Versioned<DB>>(
  tx: Kysely<DB>,
  table: T,
  { id, version, set, ...codes }: VersionedChange<DB[T]>,
): Promise<Selectable<DB[T]>> {
  const assignments = [...assignmentsOf(set), sql`row_version = row_version + 1`]
  return updateWhere(tx, table, { id, conditions: [sql`row_version = ${version}`], assignments, codes })
}

/**
 * Changes a row whose columns in `asRead` still have the values that were read, null included; other columns may have
 * changed. Gives the row as it is now.
 *
 * @throws Problem `stale` when one of them has another value, `gone` when there is no such row; nothing is changed then.
 */
export function updateIfAsRead<DB, T extends Identified<DB>>(
  tx: Kysely<DB>,
  table: T,
  { id, asRead, set, ...codes }: AssertedChange<DB[T]>,
): Promise<Selectable<DB[T]>> {
  const conditions = Object.entries(asRead).map(
    ([column, value]) => sql`${sql.ref(column)} is not distinct from ${value}`,
  )
  return updateWhere(tx, table, { id, conditions, assignments: assignmentsOf(set), codes })
}

function assignmentsOf(set: object): readonly RawBuilder<unknown>[] {
  return Object.entries(set).map(([column, value]) => sql`${sql.ref(column)} = ${value}`)
}

interface Update {
  readonly id: string
  readonly conditions: readonly RawBuilder<unknown>[]
  readonly assignments: readonly RawBuilder<unknown>[]
  readonly codes: Codes
}

async function updateWhere<Row>(
  tx: QueryExecutorProvider,
  table: string,
  { id, conditions, assignments, codes }: Update,
): Promise<Row> {
  const { rows } = await sql<Row>`
    update ${sql.table(table)} set ${sql.join(assignments)}
    where ${sql.join([sql`id = ${id}`, ...conditions], sql` and `)}
    returning *`.execute(tx)
  const [row] = rows
  if (row !== undefined) return row
  const { rows: left } = await sql`select 1 from ${sql.table(table)} where id = ${id}`.execute(tx)
  throw problem(left.length > 0 ? codes.stale : codes.gone)
}

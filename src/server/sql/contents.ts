import { expressionBuilder, sql, type Expression, type ExpressionBuilder, type RawBuilder, type SqlBool } from 'kysely'
import { problem } from '../../shared/problems.ts'
import type { Db } from '../ports/datastore.ts'
import type { Tables } from '../ports/tables/tables.ts'

/** The column by which a row names its parent, by the parent's table. */
const COLUMNS = { domains: 'domain_id', projects: 'project_id' } as const

const NOT_EMPTY = { domains: 'domain_not_empty', projects: 'project_not_empty' } as const

export type ParentTable = keyof typeof COLUMNS

/** Tables whose rows name such a parent. */
type ChildOf<Parent extends ParentTable> = {
  [T in keyof Tables]: (typeof COLUMNS)[Parent] extends keyof Tables[T] ? T : never
}[keyof Tables]

/** Which rows of the table are contents at that instant. */
export type Condition<T extends keyof Tables> = (row: ExpressionBuilder<Tables, T>, now: Date) => Expression<SqlBool>

/** A child table, and whether its rows keep their parent from being deleted. */
export interface ChildTable {
  readonly parent: ParentTable
  readonly table: keyof Tables
  /** Why its rows do not keep the parent; undefined where they do. */
  readonly exception?: string
  /** The condition of rows that do; all rows where it is undefined. */
  readonly condition?: (now: Date) => Expression<SqlBool>
}

/** Declares that rows of the table keep their parent from being deleted: those that meet the condition, or all. */
export function content<Parent extends ParentTable, T extends ChildOf<Parent>>(
  parent: Parent,
  table: T,
  condition?: Condition<T>,
): ChildTable {
  if (condition === undefined) return { parent, table }
  return { parent, table, condition: (now) => condition(expressionBuilder<Tables, T>(), now) }
}

/** Declares that rows of the table do not keep their parent from being deleted, and why. */
export function notContent<Parent extends ParentTable>(
  parent: Parent,
  table: ChildOf<Parent>,
  exception: string,
): ChildTable {
  return { parent, table, exception }
}

/** A parent that is about to be deleted. Its row is locked `FOR UPDATE`, so that nothing is created in it. */
export interface DeletedParent {
  readonly parent: ParentTable
  readonly id: string
  readonly now: Date
}

/**
 * Counts what the parent contains, in one statement.
 *
 * @throws Problem `domain_not_empty` or `project_not_empty`, with the number of rows of each table, where it contains something.
 */
export async function assertNoContents(
  tx: Db,
  children: readonly ChildTable[],
  { parent, id, now }: DeletedParent,
): Promise<void> {
  const contents = children.filter((child) => child.parent === parent && child.exception === undefined)
  const columns = contents.map(({ table, condition }) => {
    const isContent = condition?.(now) ?? sql<SqlBool>`true`
    return sql`(select count(*)::int from ${sql.table(table)}
      where ${sql.ref(COLUMNS[parent])} = ${id} and ${isContent}) as ${sql.id(table)}`
  })
  const counts = await oneRow(tx, sql<Record<string, number>>`select ${sql.join(columns)}`)
  if (Object.values(counts).some((count) => count > 0)) throw problem(NOT_EMPTY[parent], { counts })
}

async function oneRow<Row>(tx: Db, query: RawBuilder<Row>): Promise<Row> {
  const [row] = (await query.execute(tx)).rows
  if (row === undefined) throw new Error('a query without FROM returned no row')
  return row
}

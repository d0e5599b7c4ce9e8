import { sql, type RawBuilder, type SelectQueryBuilder, type SqlBool } from 'kysely'
import { problem } from '../../shared/problems.ts'
import { openRange, type PagePosition, type PageRange } from '../ports/page-range.ts'

type Sort<Row> = <DB, TB extends keyof DB, O extends Row>(
  rows: SelectQueryBuilder<DB, TB, O>,
) => SelectQueryBuilder<DB, TB, O>

/**
 * An order of a list by selected columns that no two of its rows share, so that a page goes on after the last row of the
 * page before (S0 convention 5). Columns are not qualified: a query that joins tables has each of them once.
 */
export interface Keyset<Row> {
  /** Sorts the rows of a list that has no pages. */
  readonly sorted: Sort<Row>
  /**
   * Sorts the rows and selects those of the page, and one beyond it, which says that another page follows.
   * @throws Problem `invalid_cursor` where the position is not one of this order: an earlier version of the server wrote it.
   */
  page<DB, TB extends keyof DB, O extends Row>(
    rows: SelectQueryBuilder<DB, TB, O>,
    range: PageRange,
  ): SelectQueryBuilder<DB, TB, O>
  /**
   * The condition of the rows after the position, for the parts of a statement that a page is read from; it always holds on the
   * first page.
   * @throws Problem `invalid_cursor` as `page` does.
   */
  follows(range: PageRange): RawBuilder<SqlBool>
  /** The position of a row in this order. */
  readonly positionOf: (row: Row) => PagePosition
}

/** A column of the sort key. */
interface KeyColumn<Row> {
  readonly name: string
  readonly textOf: (row: Row) => string
  readonly valueOf: (text: string) => string | number | Date
}

type Direction = 'asc' | 'desc'

/** A text or id, in the order of its column's collation. */
function text<Name extends string>(name: Name): KeyColumn<Readonly<Record<Name, string>>> {
  return { name, textOf: (row) => row[name], valueOf: (value) => value }
}

/** An instant of whole milliseconds: the position carries no more. */
function instant<Name extends string>(name: Name): KeyColumn<Readonly<Record<Name, Date>>> {
  return { name, textOf: (row) => row[name].toISOString(), valueOf: instantOf }
}

/** A whole number. */
function integer<Name extends string>(name: Name): KeyColumn<Readonly<Record<Name, number>>> {
  return { name, textOf: (row) => String(row[name]), valueOf: integerOf }
}

function integerOf(value: string): number {
  const parsed = Number(value)
  if (!Number.isSafeInteger(parsed)) throw problem('invalid_cursor')
  return parsed
}

function instantOf(value: string): Date {
  const parsed = new Date(value)
  if (Number.isNaN(parsed.getTime())) throw problem('invalid_cursor')
  return parsed
}

function keyset<Row>(direction: Direction, columns: readonly KeyColumn<Row>[]): Keyset<Row> {
  const references = columns.map(({ name }) => sql.ref(name))
  const comparison = direction === 'asc' ? sql`>` : sql`<`

  const sorted: Sort<Row> = (rows) => references.reduce((query, key) => query.orderBy(key, direction), rows)

  function after(position: PagePosition) {
    if (position.length !== columns.length) throw problem('invalid_cursor')
    const values = columns.map(({ valueOf }, at) => valueOf(position[at] ?? ''))
    return sql<SqlBool>`(${sql.join(references)}) ${comparison} (${sql.join(values)})`
  }

  return {
    sorted,
    page(rows, range) {
      const { position, size } = openRange(range)
      const query = sorted(rows).limit(size + 1)
      return position === undefined ? query : query.where(after(position))
    },
    follows(range) {
      const { position } = openRange(range)
      return position === undefined ? sql<SqlBool>`true` : after(position)
    },
    positionOf: (row) => columns.map(({ textOf }) => textOf(row)),
  }
}

/** By slug, in the order of its bytes. */
export const bySlug = keyset('asc', [text('slug')])

/** By alias, in the order of its bytes. */
export const byAlias = keyset('asc', [text('alias')])

/** By name, in the order of its bytes. */
export const byName = keyset('asc', [text('name')])

/** By login, in the order of its bytes. */
export const byLogin = keyset('asc', [text('login')])

/** By the place that each row has. */
export const byPlace = keyset('asc', [integer('place')])

/** By qualified key, in the order of its bytes. */
export const byQualifiedKey = keyset('asc', [text('qualified_key')])

export const byId = keyset('asc', [text('id')])

/** Newest first where ids are those of `IdSource`, which rise with time. */
export const byIdDescending = keyset('desc', [text('id')])

type Created = Readonly<Record<'created_at', Date> & Record<'id', string>>

/** Oldest first. */
export const byCreatedAt = keyset<Created>('asc', [instant('created_at'), text('id')])

/** Newest first. */
export const byCreatedAtDescending = keyset<Created>('desc', [instant('created_at'), text('id')])

/** Decisions and other records of an instant, newest first. */
export const byAtDescending = keyset<Readonly<Record<'at', Date> & Record<'id', string>>>('desc', [
  instant('at'),
  text('id'),
])

/** Reports by the instant at which the first one was accepted, newest first. */
export const byAcceptedAtDescending = keyset<Readonly<Record<'accepted_at', Date> & Record<'id', string>>>('desc', [
  instant('accepted_at'),
  text('id'),
])

/** By kind in the order of its bytes, then by id. */
export const byKindAndId = keyset<Readonly<Record<'kind' | 'id', string>>>('asc', [text('kind'), text('id')])

/** Labels by kind and id of their object, then by qualified key. */
export const byLabelledObject = keyset<Readonly<Record<'kind' | 'object_id' | 'qualified_key', string>>>('asc', [
  text('kind'),
  text('object_id'),
  text('qualified_key'),
])

/** Newest version first, of one object that has versions. */
export const byVersionDescending = keyset('desc', [integer('version')])

/** Highest number first, of one object whose revisions are numbered. */
export const byNumberDescending = keyset('desc', [integer('number')])

/** Newest release first; versions of the same precedence by their bytes. */
export const byPrecedenceDescending = keyset<Readonly<Record<'precedence' | 'version', string>>>('desc', [
  text('precedence'),
  text('version'),
])

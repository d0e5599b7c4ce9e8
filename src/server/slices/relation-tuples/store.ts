import { sql, type Selectable } from 'kysely'
import { IDENTIFYING_COLUMNS, type TupleColumns } from '../../../shared/authz/tuple.ts'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import { byId } from '../../sql/keyset.ts'
import type { RelationTupleRow } from '../../ports/tables/authz.ts'

/** A tuple of a Project that callers may write. */
export interface TupleRecord extends Selectable<RelationTupleRow> {
  readonly project_id: string
}

/** The tuple API does not cover parent edges, grants and memberships. */
const tuplesIn = (db: Db) =>
  db
    .selectFrom('relation_tuples')
    .selectAll()
    .where('structural', '=', false)
    .where('project_id', 'is not', null)
    .$narrowType<{ project_id: string }>()

export function findTuple(db: Db, id: string): Promise<TupleRecord | undefined> {
  return tuplesIn(db).where('id', '=', id).executeTakeFirst()
}

/** Which tuples of a Project to list. */
export interface TupleFilter {
  readonly projectId: string
  /** On one object only. */
  readonly object: { readonly type: string; readonly id: string } | undefined
}

/** Reads tuples of a Project by id. */
export function listTuples(db: Db, { projectId, object }: TupleFilter, range: PageRange): Promise<TupleRecord[]> {
  let query = tuplesIn(db).where('project_id', '=', projectId).where('state', '=', 'live')
  if (object !== undefined) {
    query = query.where('resource_type', '=', object.type).where('resource_id', '=', object.id)
  }
  return byId.page(query, range).execute()
}

/** The identity of a tuple. */
export type BindingColumns = Omit<TupleColumns, 'domain_id'>

/** The live tuples among those named, in the order of the names. */
export async function findBindings(db: Db, named: readonly BindingColumns[]): Promise<TupleRecord[]> {
  const columns = IDENTIFYING_COLUMNS.map((part) => sql`${named.map((binding) => binding[part])}::text[]`)
  const { rows } = await sql<TupleRecord>`
    select tuple.*
    from unnest(${sql.join(columns)}) with ordinality as wanted (${sql.join(IDENTIFYING_COLUMNS.map((part) => sql.ref(part)))}, place)
    join relation_tuples as tuple using (${sql.join(IDENTIFYING_COLUMNS.map((part) => sql.ref(part)))})
    where not tuple.structural
    order by wanted.place`.execute(db)
  return rows
}

/** An object that may be in a Project. */
export interface ObjectPlace {
  readonly type: string
  readonly id: string
  readonly projectId: string
}

/** The tables of objects in Projects, by type of object. */
const TABLES: Readonly<Record<string, 'resources' | 'nodes'>> = {
  resource: 'resources',
  network: 'resources',
  workload: 'resources',
  node: 'nodes',
}

/**
 * Whether the object is in the Project, by its parent edge; its row is kept from being deleted until the transaction
 * ends, so that no tuple outlives it.
 */
export async function holdObject(db: Db, { type, id, projectId }: ObjectPlace): Promise<boolean> {
  const table = TABLES[type]
  if (table === undefined) return false
  const row = await db
    .selectFrom(table)
    .select('id')
    .where(sql<string>`id::text`, '=', id)
    .where('project_id', '=', projectId)
    .forKeyShare()
    .executeTakeFirst()
  if (row === undefined) return false
  const edge = await db
    .selectFrom('relation_tuples')
    .select('id')
    .where('resource_type', '=', type)
    .where('resource_id', '=', id)
    .where('relation', '=', 'project')
    .where('subject_id', '=', projectId)
    .where('structural', '=', true)
    .executeTakeFirst()
  return edge !== undefined
}

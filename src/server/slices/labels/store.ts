import { sql, type ExpressionBuilder, type Expression, type SqlBool } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { StoredLabelKind } from '../../../shared/labels/label-kinds.ts'
import type { PageRange } from '../../ports/page-range.ts'
import type { Tables } from '../../ports/tables/tables.ts'
import type { DefinitionRecord } from '../../labels/definition.ts'
import type { StoredValue } from '../../labels/label-value.ts'
import type { AssignmentRecord } from '../../labels/assignment-store.ts'
import { byLabelledObject, byQualifiedKey } from '../../sql/keyset.ts'

/** Which Definitions a list shows. */
export interface DefinitionFilter {
  /** `platform:main`, `domain:<id>` or `project:<id>`. */
  readonly scope: string
  /** Also those of the scopes around it. */
  readonly isEnclosing: boolean
}

type Row = ExpressionBuilder<Tables, 'label_definitions'>

/** Reads the Definitions of a scope by qualified key. */
export function listDefinitions(db: Db, filter: DefinitionFilter, range: PageRange): Promise<DefinitionRecord[]> {
  const rows = db
    .selectFrom('label_definitions')
    .selectAll()
    .where((row) => row.or(scopesOf(row, filter)))
  return byQualifiedKey.page(rows, range).execute()
}

function scopesOf(row: Row, { scope, isEnclosing }: DefinitionFilter): Expression<SqlBool>[] {
  const [kind, id = ''] = scope.split(':')
  const ofPlatform = row('scope_kind', '=', 'platform')
  if (kind === 'platform') return [ofPlatform]
  const inDomain = (domain: Expression<string> | string) =>
    row.and([row('scope_kind', '=', 'domain'), row('domain_id', '=', domain)])
  if (kind === 'domain') return [inDomain(id), ...(isEnclosing ? [ofPlatform] : [])]
  const own = row('project_id', '=', id)
  const around = sql<string>`(select domain_id from projects where id = ${id})`
  return isEnclosing ? [own, inDomain(around), ofPlatform] : [own]
}

/** Which labels of objects of a Domain a list shows. */
interface LabelFilter {
  readonly domainId: string
  readonly kind: StoredLabelKind | undefined
}

/** Reads the own labels of the objects of a Domain, without those whose Definition was deleted. */
export function listLabels(db: Db, { domainId, kind }: LabelFilter, range: PageRange): Promise<AssignmentRecord[]> {
  let rows = db
    .selectFrom('label_assignments')
    .selectAll()
    .where('definition_id', 'is not', null)
    .where((row) =>
      row.exists(
        row
          .selectFrom('label_objects as object')
          .select(sql`1`.as('one'))
          .whereRef('object.kind', '=', 'label_assignments.kind')
          .whereRef('object.id', '=', 'label_assignments.object_id')
          .where('object.domain_id', '=', domainId),
      ),
    )
  if (kind !== undefined) rows = rows.where('kind', '=', kind)
  return byLabelledObject.page(rows, range).execute()
}

/** Locks the Definition against changes, and against labels and selectors that would use it. */
export function lockDefinition(tx: Db, id: string): Promise<DefinitionRecord | undefined> {
  return tx.selectFrom('label_definitions').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

/** Writes the whole Definition, whose row is locked. */
export async function updateDefinition(tx: Db, { id, value_schema, ...set }: DefinitionRecord): Promise<void> {
  const row = { ...set, value_schema: JSON.stringify(value_schema) }
  await tx.updateTable('label_definitions').set(row).where('id', '=', id).execute()
}

export async function deleteDefinition(tx: Db, id: string): Promise<void> {
  await tx.deleteFrom('label_definitions').where('id', '=', id).execute()
}

/** Most holders that a refusal names. */
const HOLDERS_MAX = 20

/** What has a stored selector that names the Definition, in byte order. */
export async function holdersOf(tx: Db, definitionId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('selector_definitions')
    .select('holder')
    .where('definition_id', '=', definitionId)
    .orderBy(sql`holder collate "C"`)
    .limit(HOLDERS_MAX)
    .execute()
  return rows.map(({ holder }) => holder)
}

export async function countAssignments(tx: Db, definitionId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('label_assignments')
    .select((row) => row.fn.countAll<string>().as('count'))
    .where('definition_id', '=', definitionId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** A value that labels have, and how many have it. */
export type ValueInUse = Pick<StoredValue, 'value' | 'value_type'> & { readonly count: number }

/** The different values of the Definition's labels. */
export async function valuesInUse(tx: Db, definitionId: string): Promise<ValueInUse[]> {
  const { rows } = await sql<ValueInUse>`
    select value, value_type, count(*)::int as count from label_assignments
    where definition_id = ${definitionId} group by value, value_type`.execute(tx)
  return rows
}

/** Counts the Definition's labels on objects of other kinds than these. */
export async function countOnOtherKinds(tx: Db, definitionId: string, kinds: readonly string[]): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from label_assignments as label
    join label_objects as object on object.kind = label.kind and object.id = label.object_id
    where label.definition_id = ${definitionId} and object.kind <> all(${kinds}::text[])
      and coalesce(object.subkind, '') <> all(${kinds}::text[])`.execute(tx)
  return rows[0]?.count ?? 0
}

/** Labels that one statement releases: it must end before the deadline of statements, on a busy machine too. */
const RELEASED_MAX = 1_000

/** Labels whose objects are read and sorted at a time. */
const READ_MAX = 50_000

/** Deletes all labels of the Definition, or keeps them without it, in several statements of the transaction. */
export async function releaseLabels(tx: Db, definitionId: string, how: 'cascade' | 'orphan'): Promise<void> {
  for (;;) {
    const objects = await objectsWith(tx, definitionId)
    if (objects.length === 0) return
    for (let from = 0; from < objects.length; from += RELEASED_MAX)
      await releaseLabelsOf(tx, objects.slice(from, from + RELEASED_MAX), { definitionId, how })
  }
}

type Labelled = Pick<Tables['label_assignments'], 'kind' | 'object_id'>

async function releaseLabelsOf(
  tx: Db,
  objects: readonly Labelled[],
  { definitionId, how }: { readonly definitionId: string; readonly how: 'cascade' | 'orphan' },
): Promise<void> {
  const ids = objects.map(({ object_id: id }) => id)
  const kinds = objects.map(({ kind }) => kind)
  // A deregistration locks a node before its labels, and the labels in the row of a node change with these.
  await sql`select from nodes where id = any(${ids}::uuid[]) order by id for no key update`.execute(tx)
  // Kind and id each: by the id alone, PostgreSQL would look through all labels of the Definition for each of them.
  const rows = sql`unnest(${kinds}::text[], ${ids}::uuid[]) as object (kind, id)
    where label.kind = object.kind and label.object_id = object.id and label.definition_id = ${definitionId}`
  await (
    how === 'cascade'
      ? sql`delete from label_assignments as label using ${rows}`
      : sql`update label_assignments as label set definition_id = null from ${rows}`
  ).execute(tx)
}

/** The first objects that have the label, by id. */
async function objectsWith(tx: Db, definitionId: string): Promise<Labelled[]> {
  return tx
    .selectFrom('label_assignments')
    .select(['kind', 'object_id'])
    .where('definition_id', '=', definitionId)
    .orderBy('object_id')
    .limit(READ_MAX)
    .execute()
}

/** Definitions whose tuples are not written yet, by id. */
export function notGranted(db: Db, limit: number): Promise<DefinitionRecord[]> {
  return db
    .selectFrom('label_definitions')
    .selectAll()
    .where('granted', '=', false)
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Says that the Definition's tuples are written; false where it is gone, or another pass was first. */
export async function markGranted(tx: Db, id: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('label_definitions')
    .set({ granted: true })
    .where('id', '=', id)
    .where('granted', '=', false)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

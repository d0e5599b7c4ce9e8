import { sql, type Selectable } from 'kysely'
import type { StoredLabelKind } from '../../shared/labels/label-kinds.ts'
import type { Db } from '../ports/datastore.ts'
import type { LabelAssignmentRow, LabelObjectRow } from '../ports/tables/labels.ts'

/** A label of an object as stored. */
export type AssignmentRecord = Selectable<LabelAssignmentRow>

/** An object that can have labels, with its place. */
export type LabelObject = Selectable<LabelObjectRow>

/** An object by its stored kind. */
export interface ObjectKey {
  readonly kind: StoredLabelKind
  readonly id: string
}

export function findObject(db: Db, { kind, id }: ObjectKey): Promise<LabelObject | undefined> {
  return db.selectFrom('label_objects').selectAll().where('kind', '=', kind).where('id', '=', id).executeTakeFirst()
}

/**
 * Locks the object against other changes of its labels; undefined where it is gone. A node's row is locked first: the
 * labels in it change with the assignments, and a deregistration comes from there.
 */
export async function lockObject(tx: Db, { kind, id }: ObjectKey): Promise<LabelObject | undefined> {
  if (kind === 'node') await tx.selectFrom('nodes').select('id').where('id', '=', id).forNoKeyUpdate().execute()
  const object = tx.selectFrom('label_objects').selectAll().where('kind', '=', kind).where('id', '=', id)
  return object.forUpdate().executeTakeFirst()
}

const labelsOf = (db: Db, { kind, id }: ObjectKey) =>
  db.selectFrom('label_assignments').selectAll().where('kind', '=', kind).where('object_id', '=', id)

export function findAssignment(db: Db, object: ObjectKey, key: string): Promise<AssignmentRecord | undefined> {
  return labelsOf(db, object).where('qualified_key', '=', key).executeTakeFirst()
}

/** Reads the object's own labels by qualified key, orphaned ones included. */
export function readAssignments(db: Db, object: ObjectKey): Promise<AssignmentRecord[]> {
  return labelsOf(db, object).orderBy('qualified_key').execute()
}

/**
 * Reads the labels that count for an object, by qualified key: its own, else that of its Project, else that of its Domain
 * where the Definition lets objects inherit. Orphaned ones do not count.
 */
export async function readEffective(db: Db, object: LabelObject): Promise<AssignmentRecord[]> {
  const { rows } = await sql<AssignmentRecord>`
    select distinct on (label.qualified_key) label.*
    from (values
      (1, ${object.kind}::text, ${object.id}::uuid), (2, 'project', ${object.project_id}::uuid),
      (3, 'domain', ${object.domain_id}::uuid)
    ) as source (rank, kind, id)
    join label_assignments as label on label.kind = source.kind and label.object_id = source.id
    join label_definitions as definition on definition.id = label.definition_id
    where source.rank = 1 or definition.inherit
    order by label.qualified_key, source.rank`.execute(db)
  return rows
}

/** Counts the object's labels, orphaned ones included. */
export async function countAssignments(db: Db, { kind, id }: ObjectKey): Promise<number> {
  const { count } = await db
    .selectFrom('label_assignments')
    .select((row) => row.fn.countAll<string>().as('count'))
    .where('kind', '=', kind)
    .where('object_id', '=', id)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Writes the labels; one that the object has already keeps its `created_at`. */
export async function upsertAssignments(db: Db, labels: readonly AssignmentRecord[]): Promise<void> {
  if (labels.length === 0) return
  await db
    .insertInto('label_assignments')
    .values([...labels])
    .onConflict((on) =>
      on.columns(['kind', 'object_id', 'qualified_key']).doUpdateSet((row) => ({
        definition_id: row.ref('excluded.definition_id'),
        value: row.ref('excluded.value'),
        value_type: row.ref('excluded.value_type'),
        number: row.ref('excluded.number'),
        assigned_by: row.ref('excluded.assigned_by'),
        updated_at: row.ref('excluded.updated_at'),
      })),
    )
    .execute()
}

/** Removes labels of an object by their qualified keys. */
export async function deleteAssignments(db: Db, { kind, id }: ObjectKey, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return
  await db
    .deleteFrom('label_assignments')
    .where('kind', '=', kind)
    .where('object_id', '=', id)
    .where(sql`qualified_key`, '=', sql`any(${keys}::text[])`)
    .execute()
}

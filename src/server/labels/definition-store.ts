import { sql, type Insertable } from 'kysely'
import type { Db } from '../ports/datastore.ts'
import type { LabelDefinitionRow } from '../ports/tables/labels.ts'
import { conflictsAs } from '../sql/unique.ts'
import type { DefinitionRecord } from './definition.ts'

/** @throws Problem `definition_conflict` where the scope has a Definition with this key. */
export async function insertDefinition(db: Db, definition: DefinitionRecord): Promise<void> {
  const write = db.insertInto('label_definitions').values(rowOf(definition)).execute()
  await conflictsAs(write, { label_definitions_qualified_key_key: 'definition_conflict' })
}

/** Inserts the Definition unless its key is taken. Waits for a transaction that is about to take it. */
export async function insertUnlessTaken(db: Db, definition: DefinitionRecord): Promise<boolean> {
  const inserted = await db
    .insertInto('label_definitions')
    .values(rowOf(definition))
    .onConflict((on) => on.column('qualified_key').doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

function rowOf({ kinds, value_schema, ...definition }: DefinitionRecord): Insertable<LabelDefinitionRow> {
  return { ...definition, value_schema: JSON.stringify(value_schema), kinds: sql<string[]>`${kinds}::text[]` as never }
}

export function findDefinition(db: Db, id: string): Promise<DefinitionRecord | undefined> {
  return db.selectFrom('label_definitions').selectAll().where('id', '=', id).executeTakeFirst()
}

export function findByKey(db: Db, key: string): Promise<DefinitionRecord | undefined> {
  return db.selectFrom('label_definitions').selectAll().where('qualified_key', '=', key).executeTakeFirst()
}

export async function findByKeys(db: Db, keys: readonly string[]): Promise<readonly DefinitionRecord[]> {
  return keys.length === 0 ? [] : ofKeys(db, keys).execute()
}

const ofKeys = (db: Db, keys: readonly string[]) =>
  db
    .selectFrom('label_definitions')
    .selectAll()
    .where(sql`qualified_key`, '=', sql`any(${keys}::text[])`)

/**
 * Reads the Definitions of these qualified keys, by id, and keeps them from being changed or deleted until the transaction
 * ends. Definitions are held before nodes, and nodes before their labels.
 */
export async function holdByKeys(tx: Db, keys: readonly string[]): Promise<readonly DefinitionRecord[]> {
  return keys.length === 0 ? [] : ofKeys(tx, keys).orderBy('id').forShare().execute()
}

/** The same of one Definition, by its id. */
export function holdDefinition(tx: Db, id: string): Promise<DefinitionRecord | undefined> {
  return tx.selectFrom('label_definitions').selectAll().where('id', '=', id).forShare().executeTakeFirst()
}

/** Whether one of these Definitions is immutable. */
export async function immutableAmong(db: Db, ids: readonly string[]): Promise<boolean> {
  if (ids.length === 0) return false
  const found = await db
    .selectFrom('label_definitions')
    .select('id')
    .where('id', 'in', ids)
    .where('immutable', '=', true)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

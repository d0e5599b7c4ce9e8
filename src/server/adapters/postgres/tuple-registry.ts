import type { Insertable, Selectable } from 'kysely'
import { invalidTriple } from '../../../shared/authz/validate-tuple.ts'
import type { FedTuple } from '../../ports/change-feed.ts'
import type { Db } from '../../ports/datastore.ts'
import type { RelationTupleRow } from '../../ports/tables/authz.ts'
import type { Binding } from '../../ports/tuple-mirror.ts'

export type TupleRecord = Selectable<RelationTupleRow>

/** A tuple to be added, all but its state. */
export type NewTuple = Omit<Insertable<RelationTupleRow>, 'state' | keyof FedTuple> & FedTuple

/** Adds tuples to the registry and removes them, within one transaction. */
export interface TupleRegistry {
  /** Resolves with the ids of those that are new: the others exist in identical form. */
  add(rows: readonly NewTuple[]): Promise<ReadonlySet<string>>
  /** Undefined if there is no such tuple, or if it is structural. */
  remove(id: string): Promise<TupleRecord | undefined>
  /** Removes a parent edge; false when there is none. */
  removeEdge(id: string): Promise<boolean>
  /** Sets the Project of the tuples on an object; `null` for none. */
  place(object: { readonly type: string; readonly id: string }, projectId: string | null): Promise<void>
  /** Removes every tuple with the object as subject or resource; resolves with their number. */
  removeObject(type: string, id: string): Promise<number>
}

/** Called with each tuple that becomes visible, or is no longer visible, when the transaction commits. */
export type OnTupleChange = (kind: 'tuple_touched' | 'tuple_deleted', tuple: FedTuple) => void

/** Records what the mirror must send after the commit. */
export interface MirroredWrites {
  /** Called before the first write. @throws Problem `authz_unavailable`. */
  begin(): void
  /** Called with each binding whose tuples were written. */
  onWritten(binding: Binding): void
  /** Called with each binding that was unsettled already. */
  onMet(binding: Binding): void
}

export const fedTuple = (row: FedTuple): FedTuple => ({
  id: row.id,
  subject_type: row.subject_type,
  subject_id: row.subject_id,
  subject_relation: row.subject_relation,
  relation: row.relation,
  resource_type: row.resource_type,
  resource_id: row.resource_id,
  caveat_name: row.caveat_name,
  domain_id: row.domain_id,
})

/** Inserts tuples in the given state; each replaces an identical one that is being revoked. Resolves with the ids of the inserted ones. */
async function insert(db: Db, rows: readonly NewTuple[], state: 'pending' | 'live'): Promise<ReadonlySet<string>> {
  const inserted = await db
    .insertInto('relation_tuples')
    .values(rows.map((row) => ({ ...row, state })))
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet((on) => ({
          state,
          project_id: on.ref('excluded.project_id'),
          caveat_fields: on.ref('excluded.caveat_fields'),
          created_at: on.ref('excluded.created_at'),
        }))
        .where('relation_tuples.state', '=', 'revoking'),
    )
    .returning('id')
    .execute()
  return new Set(inserted.map(({ id }) => id))
}

/** Only lists use the column: engines know Projects by their edges. */
const placing =
  (db: Db): TupleRegistry['place'] =>
  async ({ type, id }, projectId) => {
    await db
      .updateTable('relation_tuples')
      .set({ project_id: projectId })
      .where('resource_type', '=', type)
      .where('resource_id', '=', id)
      .execute()
  }

/** The registry for an engine that follows the feed: a tuple takes effect when it is committed. */
export function createLiveRegistry(db: Db, onChange: OnTupleChange): TupleRegistry {
  async function remove(id: string, structural: boolean): Promise<TupleRecord | undefined> {
    const row = await db
      .deleteFrom('relation_tuples')
      .where('id', '=', id)
      .where('structural', '=', structural)
      .returningAll()
      .executeTakeFirst()
    if (row !== undefined) onChange('tuple_deleted', fedTuple(row))
    return row
  }

  return {
    place: placing(db),
    remove: (id) => remove(id, false),
    removeEdge: async (id) => (await remove(id, true)) !== undefined,
    async add(rows) {
      const added = await insert(db, rows, 'live')
      for (const row of rows) if (added.has(row.id)) onChange('tuple_touched', fedTuple(row))
      return added
    },
    async removeObject(type, id) {
      const rows = await db
        .deleteFrom('relation_tuples')
        .where((or) =>
          or.or([or.and({ resource_type: type, resource_id: id }), or.and({ subject_type: type, subject_id: id })]),
        )
        .returningAll()
        .execute()
      for (const row of rows) onChange('tuple_deleted', fedTuple(row))
      return rows.length
    },
  }
}

/**
 * The registry for an engine that has its own copy. A new tuple is `pending` until that engine has it. A removed one is
 * `revoking` until that engine has deleted it (decisions: SpiceDB).
 */
export function createMirroredRegistry(db: Db, onChange: OnTupleChange, mirrored: MirroredWrites): TupleRegistry {
  async function meet(id: string, state: 'pending' | 'revoking'): Promise<void> {
    const row = await db
      .selectFrom('relation_tuples')
      .selectAll()
      .where('id', '=', id)
      .where('state', '=', state)
      .executeTakeFirst()
    if (row !== undefined) mirrored.onMet(row)
  }

  /** SpiceDB keeps one caveat for a binding, so a second one would replace the first. */
  async function refuseSecondCaveat(row: NewTuple): Promise<void> {
    if (row.caveat_name === '') return
    const { subject_type, subject_id, subject_relation, relation, resource_type, resource_id } = row
    const other = await db
      .selectFrom('relation_tuples')
      .select('id')
      .where((on) => on.and({ subject_type, subject_id, subject_relation, relation, resource_type, resource_id }))
      .where('caveat_name', 'not in', ['', row.caveat_name])
      .where('state', '<>', 'revoking')
      .executeTakeFirst()
    if (other !== undefined) throw invalidTriple({ part: 'caveat', reason: 'second_caveat' })
  }

  async function remove(id: string, structural: boolean): Promise<TupleRecord | undefined> {
    mirrored.begin()
    const row = await db
      .updateTable('relation_tuples')
      .set({ state: 'revoking' })
      .where('id', '=', id)
      .where('structural', '=', structural)
      .where('state', '<>', 'revoking')
      .returningAll()
      .executeTakeFirst()
    if (row === undefined) await meet(id, 'revoking')
    else mirrored.onWritten(row)
    return row
  }

  return {
    place: placing(db),
    remove: (id) => remove(id, false),
    removeEdge: async (id) => (await remove(id, true)) !== undefined,
    async add(rows) {
      mirrored.begin()
      for (const row of rows) await refuseSecondCaveat(row)
      const added = await insert(db, rows, 'pending')
      for (const row of rows) {
        if (!added.has(row.id)) await meet(row.id, 'pending')
        else {
          onChange('tuple_touched', { ...fedTuple(row), mirrored: true })
          mirrored.onWritten(row)
        }
      }
      return added
    },
    // Deleting a credential or a node must not wait for SpiceDB: its tuples are revoked there later.
    async removeObject(type, id) {
      const rows = await db
        .updateTable('relation_tuples')
        .set({ state: 'revoking' })
        .where((or) =>
          or.or([or.and({ resource_type: type, resource_id: id }), or.and({ subject_type: type, subject_id: id })]),
        )
        .returningAll()
        .execute()
      for (const row of rows) mirrored.onWritten(row)
      return rows.length
    },
  }
}

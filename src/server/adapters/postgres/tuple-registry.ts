import type { Insertable, Selectable } from 'kysely'
import { invalidTriple } from '../../../shared/authz/validate-tuple.ts'
import type { FedTuple } from '../../ports/change-feed.ts'
import type { Db } from '../../ports/datastore.ts'
import type { RelationTupleRow } from '../../ports/tables/authz.ts'
import type { Binding } from '../../ports/tuple-mirror.ts'

export type TupleRecord = Selectable<RelationTupleRow>

/** A tuple to be added, all but its state. */
export type NewTuple = Omit<Insertable<RelationTupleRow>, 'state' | keyof FedTuple> & FedTuple

/** How tuples come into the registry and go from it, within one transaction. */
export interface TupleRegistry {
  /** False when an identical one is there. */
  add(row: NewTuple): Promise<boolean>
  /** Undefined when there is none, or it is structural. */
  remove(id: string): Promise<TupleRecord | undefined>
  /** Removes a parent edge; false when there is none. */
  removeEdge(id: string): Promise<boolean>
  /** Keeps the tuples on an object beside another Project, or beside none. */
  place(object: { readonly type: string; readonly id: string }, projectId: string | null): Promise<void>
  /** Removes all that have the object on either side; resolves with how many there were. */
  removeObject(type: string, id: string): Promise<number>
}

/** Hears of each tuple that is to be seen, or no longer to be seen, with the transaction's commit. */
export type OnTupleChange = (kind: 'tuple_touched' | 'tuple_deleted', tuple: FedTuple) => void

/** How a change records what the mirror must send after it. */
export interface MirroredWrites {
  /** Called before the first write. @throws Problem `authz_unavailable`. */
  begin(): void
  /** Hears of each binding whose tuples were written. */
  onWritten(binding: Binding): void
  /** Hears of each binding that was found to be unsettled already. */
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

/** Inserts in the given state; takes the place of an identical tuple that is being revoked. */
async function insert(db: Db, row: NewTuple, state: 'pending' | 'live'): Promise<boolean> {
  const inserted = await db
    .insertInto('relation_tuples')
    .values({ ...row, state })
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
    .executeTakeFirst()
  return inserted !== undefined
}

/** No engine knows of Projects but by edges: only lists do. */
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

/** The registry where the engine follows the feed: what is committed counts. */
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
    async add(row) {
      if (!(await insert(db, row, 'live'))) return false
      onChange('tuple_touched', fedTuple(row))
      return true
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
 * The registry beside an engine with a copy of its own: a new tuple is `pending`, one that goes is `revoking` and goes when
 * that engine has lost it (decisions: SpiceDB).
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

  /** SpiceDB keeps one caveat for a binding, so that a second would take the place of the first. */
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
    async add(row) {
      mirrored.begin()
      await refuseSecondCaveat(row)
      if (!(await insert(db, row, 'pending'))) {
        await meet(row.id, 'pending')
        return false
      }
      onChange('tuple_touched', { ...fedTuple(row), mirrored: true })
      mirrored.onWritten(row)
      return true
    },
    // The end of a credential or a node must not wait for SpiceDB: what it leaves there is revoked when that is back.
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

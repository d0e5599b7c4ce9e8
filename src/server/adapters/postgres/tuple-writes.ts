import type { Selectable } from 'kysely'
import { parseReference } from '../../../shared/ids.ts'
import { problem } from '../../../shared/problems.ts'
import type { FedTuple } from '../../ports/change-feed.ts'
import type { Db } from '../../ports/datastore.ts'
import type { RelationTupleRow } from '../../ports/tables.ts'
import type { StoredTuple, Tuple, TuplePlace, TupleWrites } from '../../ports/unit-of-work.ts'
import { tupleId } from './tuple-id.ts'

type TupleRecord = Selectable<RelationTupleRow>

/**
 * Holds a tuple against the schema, and against the groups as this replica knows them together with `pending`.
 * @throws Problem `invalid_triple` where they refuse it.
 */
export type ValidateTuple = (tuple: Tuple, options: { structural: boolean; pending: readonly Tuple[] }) => void

interface TupleWritesDeps {
  readonly db: Db
  readonly now: Date
  readonly validateTuple: ValidateTuple
  /** Keeps all others from committing tuples until this transaction ends, and waits until this replica has seen theirs. */
  readonly settle: () => Promise<void>
  /** Hears of each written tuple, in order. */
  readonly onChange: (kind: 'tuple_touched' | 'tuple_deleted', tuple: FedTuple) => void
}

/** Splits `<type>:<id>#<relation>`; the last part is empty for a direct subject. */
function partsOf(reference: string): { type: string; id: string; relation: string } {
  const hash = reference.indexOf('#')
  const parsed = parseReference(hash < 0 ? reference : reference.slice(0, hash))
  if (parsed === undefined) throw problem('invalid_triple')
  return { ...parsed, relation: hash < 0 ? '' : reference.slice(hash + 1) }
}

function columnsOf(tuple: Tuple) {
  const subject = partsOf(tuple.subject)
  const resource = partsOf(tuple.resource)
  return {
    id: tupleId(tuple),
    subject_type: subject.type,
    subject_id: subject.id,
    subject_relation: subject.relation,
    relation: tuple.relation,
    resource_type: resource.type,
    resource_id: resource.id,
    caveat_name: tuple.caveatName ?? '',
  }
}

const fedTuple = (row: FedTuple): FedTuple => ({
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

function storedTuple(row: TupleRecord): StoredTuple {
  const subject = `${row.subject_type}:${row.subject_id}`
  return {
    id: row.id,
    subject: row.subject_relation === '' ? subject : `${subject}#${row.subject_relation}`,
    relation: row.relation,
    resource: `${row.resource_type}:${row.resource_id}`,
    ...(row.caveat_name !== '' && { caveatName: row.caveat_name }),
    caveatFields: row.caveat_fields,
    createdAt: row.created_at,
    domainId: row.domain_id,
    projectId: row.project_id,
    structural: row.structural,
  }
}

/** Writes tuples inside one transaction. Their revision is the transaction's, which is known only at its end. */
export function createTupleWrites({ db, now, validateTuple, settle, onChange }: TupleWritesDeps): TupleWrites {
  /** Tuples of this transaction that bind a set of subjects, by id. */
  const usersets = new Map<string, Tuple>()
  let settled: Promise<void> | undefined

  /** Two groups could otherwise become members of each other in two transactions, neither of which saw the other. */
  async function check(tuple: Tuple, structural: boolean): Promise<void> {
    if (tuple.subject.includes('#')) await (settled ??= settle())
    validateTuple(tuple, { structural, pending: [...usersets.values()] })
  }

  async function insert(tuple: Tuple, place: TuplePlace, structural: boolean): Promise<boolean> {
    await check(tuple, structural)
    const row = { ...columnsOf(tuple), domain_id: place.domainId }
    const inserted = await db
      .insertInto('relation_tuples')
      .values({
        ...row,
        caveat_fields: JSON.stringify(tuple.caveatFields ?? []),
        project_id: place.projectId,
        structural,
        revision: '0',
        created_at: now,
      })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id')
      .executeTakeFirst()
    if (inserted === undefined) return false
    if (row.subject_relation !== '') usersets.set(row.id, tuple)
    onChange('tuple_touched', row)
    return true
  }

  return {
    create: (tuple, place) => insert(tuple, place, false),
    async createStructural(tuple, place) {
      if (!(await insert(tuple, place, true))) throw new Error('the parent edge of a new object exists already')
    },
    restoreStructural: (tuple, place) => insert(tuple, place, true),
    async delete(id) {
      const row = await db
        .deleteFrom('relation_tuples')
        .where('id', '=', id)
        .where('structural', '=', false)
        .returningAll()
        .executeTakeFirst()
      if (row === undefined) return undefined
      usersets.delete(id)
      onChange('tuple_deleted', fedTuple(row))
      return storedTuple(row)
    },
    async deleteObject(reference) {
      const { type, id } = partsOf(reference)
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

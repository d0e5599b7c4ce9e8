import { parseReference } from '../../../shared/ids.ts'
import { problem } from '../../../shared/problems.ts'
import type { Db } from '../../ports/datastore.ts'
import { storedTuple } from '../../ports/stored-tuple.ts'
import type { PlacedTuple, StoredTuple, Tuple, TupleWrites } from '../../ports/unit-of-work.ts'
import { tupleId } from './tuple-id.ts'
import {
  createLiveRegistry,
  createMirroredRegistry,
  type MirroredWrites,
  type OnTupleChange,
} from './tuple-registry.ts'

/**
 * Checks a tuple against the schema, and against the groups that this replica knows together with `pending`.
 * @throws Problem `invalid_triple` if either refuses it.
 */
export type ValidateTuple = (tuple: Tuple, options: { structural: boolean; pending: readonly Tuple[] }) => void

interface TupleWritesDeps {
  readonly db: Db
  readonly now: Date
  readonly validateTuple: ValidateTuple
  /**
   * Blocks other transactions that change tuples until this one ends, and waits until this replica has applied the
   * earlier ones.
   */
  readonly settle: () => Promise<void>
  /** Present where a separate engine must receive tuples: a tuple is `live` once that engine has it, and gone once that engine has deleted it. */
  readonly mirrored?: MirroredWrites | undefined
  /** Called with each written tuple, in order. */
  readonly onChange: OnTupleChange
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

/** Writes tuples inside one transaction. Their revision is the transaction's, which is known only at its end. */
export function createTupleWrites(deps: TupleWritesDeps): TupleWrites {
  const { db, now, validateTuple, settle, onChange, mirrored } = deps
  const registry = mirrored ? createMirroredRegistry(db, onChange, mirrored) : createLiveRegistry(db, onChange)
  /** Tuples of this transaction that bind a set of subjects, by id. */
  const usersets = new Map<string, Tuple>()
  let settled: Promise<void> | undefined

  /**
   * Waits for concurrent changes: two transactions could otherwise make two groups members of each other. With SpiceDB,
   * one binding could get two caveats.
   */
  async function check(tuple: Tuple, structural: boolean): Promise<void> {
    const isAlone = !tuple.subject.includes('#') && (mirrored === undefined || tuple.caveatName === undefined)
    if (!isAlone) await (settled ??= settle())
    validateTuple(tuple, { structural, pending: [...usersets.values()] })
  }

  /** Resolves with those of which no identical one is live. One that binds a set of subjects is inserted alone. */
  async function insert(placed: readonly PlacedTuple[], structural: boolean): Promise<StoredTuple[]> {
    for (const { tuple } of placed) await check(tuple, structural)
    const entries = placed.map(({ tuple, place: { domainId, projectId } }) => {
      const caveat_fields = [...(tuple.caveatFields ?? [])]
      const place = { domain_id: domainId, project_id: projectId, structural, created_at: now }
      return { tuple, row: { ...columnsOf(tuple), caveat_fields, ...place } }
    })
    const added = await registry.add(
      entries.map(({ row }) => ({ ...row, caveat_fields: JSON.stringify(row.caveat_fields), revision: '0' })),
    )
    const created = entries.filter(({ row }) => added.has(row.id))
    for (const { tuple, row } of created) if (row.subject_relation !== '') usersets.set(row.id, tuple)
    return created.map(({ row }) => storedTuple(row))
  }

  const createEdges: TupleWrites['createEdges'] = async (edges) => {
    const { length } = await insert(edges, true)
    if (length < edges.length) throw new Error('the parent edge exists already')
  }

  const settleOnce = (): Promise<void> => (settled ??= settle())

  return {
    settle: settleOnce,
    create: async (tuple, place) => (await insert([{ tuple, place }], false))[0],
    createStructural: (tuple, place) => createEdges([{ tuple, place }]),
    createEdges,
    async restoreStructural(tuple, place) {
      await insert([{ tuple, place }], true)
    },
    removeStructural: (tuple) => registry.removeEdge(tupleId(tuple)),
    async moveObject(reference, from, to) {
      const edge = (projectId: string): Tuple => ({
        subject: `project:${projectId}`,
        relation: 'project',
        resource: reference,
      })
      if (from.projectId !== null) await registry.removeEdge(tupleId(edge(from.projectId)))
      await registry.place(partsOf(reference), to.projectId)
      if (to.projectId !== null) await insert([{ tuple: edge(to.projectId), place: to }], true)
    },
    async delete(id) {
      const row = await registry.remove(id)
      if (row === undefined) return undefined
      usersets.delete(id)
      return storedTuple(row)
    },
    async deleteObject(reference) {
      const { type, id } = partsOf(reference)
      return registry.removeObject(type, id)
    },
  }
}

import type { TupleColumns } from '../../../shared/authz/tuple.ts'
import { invalidTriple } from '../../../shared/authz/validate-tuple.ts'
import type { relationTuples } from '../../../shared/contract/relation-tuples.ts'
import type { Result } from '../../../shared/contract/operation.ts'
import type { WantedTuple } from '../../ports/tuple-admission.ts'
import type { Tuple } from '../../ports/unit-of-work.ts'
import type { TupleRecord } from './store.ts'

type Operations = (typeof relationTuples)['operations']
type TupleAnswer = Result<Operations['PatchRelationTuple']>

/** The member of a caveat context that names the caveat (S0 RelationTuple). */
const CAVEAT_NAME = 'caveat_name'

/** The caveat of a tuple as it is stored: its name, and names of fields. */
type Caveat = Pick<Tuple, 'caveatName' | 'caveatFields'>

/**
 * Reads the caveat of a tuple: the one value that counts is that of `caveat_name`, of all other members the names.
 * @throws Problem `invalid_triple` when `caveat_name` is no name.
 */
export function caveatOf({ caveatContext }: Pick<WantedTuple, 'caveatContext'>): Caveat {
  if (caveatContext === undefined) return {}
  const { [CAVEAT_NAME]: caveatName, ...fields } = caveatContext
  const named = { caveatFields: Object.keys(fields) }
  if (caveatName === undefined) return named
  if (typeof caveatName !== 'string' || caveatName === '') throw invalidTriple({ part: 'caveat', reason: 'malformed' })
  return { ...named, caveatName }
}

/** The parts of a tuple as references, from its columns. */
export function referencesOf(columns: Omit<TupleColumns, 'domain_id'>): {
  readonly subject: string
  readonly relation: string
  readonly resource: string
} {
  const userset = columns.subject_relation === '' ? '' : `#${columns.subject_relation}`
  return {
    subject: `${columns.subject_type}:${columns.subject_id}${userset}`,
    relation: columns.relation,
    resource: `${columns.resource_type}:${columns.resource_id}`,
  }
}

/** The tuple as the API shows it. */
export function toAnswer(tuple: TupleRecord): TupleAnswer {
  const fields = tuple.caveat_fields.map((name): [string, null] => [name, null])
  const named: [string, string | null][] =
    tuple.caveat_name === '' ? fields : [[CAVEAT_NAME, tuple.caveat_name], ...fields]
  return {
    id: tuple.id,
    ...referencesOf(tuple),
    ...(named.length > 0 && { caveat_context: Object.fromEntries(named) }),
    created_at: tuple.created_at.toISOString(),
  }
}

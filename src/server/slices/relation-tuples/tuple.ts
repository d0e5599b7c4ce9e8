import { invalidTriple } from '../../../shared/authz/validate-tuple.ts'
import type { relationTuples } from '../../../shared/contract/relation-tuples.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import type { WantedTuple } from '../../ports/tuple-admission.ts'
import type { StoredTuple, Tuple } from '../../ports/unit-of-work.ts'

type Operations = (typeof relationTuples)['operations']
type TupleAnswer = Result<Operations['PatchRelationTuple']>

/** The member of a caveat context that names the caveat (S0 RelationTuple). */
const CAVEAT_NAME = 'caveat_name'

/** The caveat of a tuple as it is stored: its name, and names of fields. */
type Caveat = Pick<Tuple, 'caveatName' | 'caveatFields'>

/**
 * Reads the caveat of a tuple: only the value of `caveat_name` counts; of all other members, only the names.
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

/** The tuple as the API shows it. */
export function toAnswer(tuple: StoredTuple): TupleAnswer {
  const { id, subject, relation, resource, caveatName, caveatFields, createdAt } = tuple
  const fields = caveatFields.map((name): [string, null] => [name, null])
  const named: [string, string | null][] = caveatName === undefined ? fields : [[CAVEAT_NAME, caveatName], ...fields]
  return {
    id,
    subject,
    relation,
    resource,
    ...(named.length > 0 && { caveat_context: Object.fromEntries(named) }),
    created_at: createdAt.toISOString(),
  }
}

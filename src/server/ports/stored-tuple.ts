import type { Selectable } from 'kysely'
import { referencesOf } from '../../shared/authz/tuple.ts'
import type { RelationTupleRow } from './tables/authz.ts'
import type { StoredTuple } from './unit-of-work.ts'

/** Makes a stored tuple of its row. */
export function storedTuple(row: Omit<Selectable<RelationTupleRow>, 'revision' | 'state'>): StoredTuple {
  return {
    id: row.id,
    ...referencesOf(row),
    ...(row.caveat_name !== '' && { caveatName: row.caveat_name }),
    caveatFields: row.caveat_fields,
    createdAt: row.created_at,
    domainId: row.domain_id,
    projectId: row.project_id,
    structural: row.structural,
  }
}

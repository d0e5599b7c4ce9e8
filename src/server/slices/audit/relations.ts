import { auditRelationsOf } from '../../../shared/contract/audit-relations.ts'
import { contract } from '../../../shared/contract/index.ts'

/** Filters of relations, besides one by its name. */
export interface RelationFilter {
  readonly relation_prefix?: string | undefined
  readonly only?: 'writes' | undefined
}

const RELATIONS = auditRelationsOf(contract)

/** The relations that a filter selects, each once; undefined where it selects all. */
export function relationsMeant({ relation_prefix: prefix, only }: RelationFilter): readonly string[] | undefined {
  if (prefix === undefined && only === undefined) return undefined
  const meant = RELATIONS.filter(
    ({ relation, isWrite }) => relation.startsWith(prefix ?? '') && (only === undefined || isWrite),
  )
  // Operations may share a relation. A list reads the rows of each that is named, and would show those of one named twice twice.
  return [...new Set(meant.map(({ relation }) => relation))]
}

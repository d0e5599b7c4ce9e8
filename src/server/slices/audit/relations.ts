import { auditRelationsOf } from '../../../shared/contract/audit-relations.ts'
import { contract } from '../../../shared/contract/index.ts'

/** Filters of relations, besides one by its name. */
export interface RelationFilter {
  readonly relation_prefix?: string | undefined
  readonly only?: 'writes' | undefined
}

const RELATIONS = auditRelationsOf(contract)

/** The relations that a filter selects; undefined where it selects all. */
export function relationsMeant({ relation_prefix: prefix, only }: RelationFilter): readonly string[] | undefined {
  if (prefix === undefined && only === undefined) return undefined
  return RELATIONS.filter(
    ({ relation, isWrite }) => relation.startsWith(prefix ?? '') && (only === undefined || isWrite),
  ).map(({ relation }) => relation)
}

import { indexNesting, nestingFault } from '../../../shared/authz/engine/nesting.ts'
import type { TupleIndex } from '../../../shared/authz/engine/tuple-index.ts'
import { SERVICE_MODEL } from '../../../shared/authz/service-model.ts'
import type { TupleColumns } from '../../../shared/authz/tuple.ts'
import { invalidTriple, validateTuple } from '../../../shared/authz/validate-tuple.ts'
import { problem } from '../../../shared/problems.ts'
import type { Tuple } from '../../ports/unit-of-work.ts'

export interface TupleRulesOptions {
  /** The server writes the parent edge of a new object. */
  readonly structural: boolean
  /** Tuples that the same transaction has written, so that several writes cannot build what a single one may not. */
  readonly pending?: readonly Tuple[]
}

/** The checks of a tuple writer before it writes. */
export interface TupleRules {
  /**
   * Parses a tuple and checks it against the schema and the groups: it must not close a cycle or nest groups deeper than 40.
   * Groups are seen as of the revision that this replica has applied; a writer that holds the row of `authz_head` and
   * has waited for its revision gets the exact answer.
   * @returns the tuple in columns, UUIDs in lower case.
   * @throws Problem `invalid_triple` with the members `part`, `reason` and `errors`; `authz_unavailable` for nested groups
   * before the tuples are loaded.
   */
  readonly validateTuple: (tuple: Tuple, options: TupleRulesOptions) => Omit<TupleColumns, 'domain_id'>
}

/** The rules of the service's schema, over the groups of an index. */
export function createTupleRules(currentIndex: () => TupleIndex | undefined): TupleRules {
  return {
    validateTuple(tuple, { structural, pending = [] }) {
      const columns = validateTuple(tuple, { structural })
      if (columns.subject_relation === '') return columns
      const index = currentIndex()
      if (index === undefined) throw problem('authz_unavailable')
      const before = pending
        .filter(({ subject }) => subject.includes('#'))
        .map((each) => validateTuple(each, { structural: false }))
      const fault = nestingFault(SERVICE_MODEL, indexNesting(SERVICE_MODEL, index, before), columns)
      if (fault !== undefined) throw invalidTriple({ part: 'subject', reason: fault })
      return columns
    },
  }
}

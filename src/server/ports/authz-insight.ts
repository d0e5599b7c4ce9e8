import type { ExplainedCheck } from '../../shared/authz/explanation.ts'
import type { Impact, TupleEdit } from '../../shared/authz/impact.ts'
import type { TupleColumns } from '../../shared/authz/tuple.ts'
import type { Db } from './datastore.ts'
import type { CaveatFacts, CheckQuery } from './authorizer.ts'
import type { LongQuestion } from './caller-gone.ts'

export interface ExplainQuery extends CheckQuery, LongQuestion {}

export interface ImpactQuery {
  readonly edits: readonly TupleEdit[]
  readonly facts: CaveatFacts
  /** Most changes to return. */
  readonly changesMax: number
  /**
   * The transaction in which the question is asked, once its tuples are settled, and those that it has written: what has to be
   * read is read in it, without these.
   */
  readonly within?: { readonly db: Db; readonly written: readonly TupleColumns[] }
}

/** Tells why a check comes out as it does, and what changes of tuples would do. Changes nothing. */
export interface AuthzInsight {
  /** @throws Problem `invalid_triple`, `authz_unavailable`; `CallerGone`. */
  explain(query: ExplainQuery): ExplainedCheck | Promise<ExplainedCheck>
  /** @throws Problem `invalid_triple` for a tuple that could not be written, `authz_unavailable`. */
  impact(query: ImpactQuery): Impact | Promise<Impact>
}

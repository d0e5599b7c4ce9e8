import type { ExplainedCheck } from '../../shared/authz/explanation.ts'
import type { Impact, TupleEdit } from '../../shared/authz/impact.ts'
import type { CaveatFacts, CheckQuery } from './authorizer.ts'

export interface ImpactQuery {
  readonly edits: readonly TupleEdit[]
  readonly facts: CaveatFacts
  /** Most changes to return. */
  readonly changesMax: number
}

/** Tells why a check comes out as it does, and what changes of tuples would do. Changes nothing. */
export interface AuthzInsight {
  /** @throws Problem `invalid_triple`, `authz_unavailable`. */
  explain(query: CheckQuery): ExplainedCheck | Promise<ExplainedCheck>
  /** @throws Problem `invalid_triple` for a tuple that could not be written, `authz_unavailable`. */
  impact(query: ImpactQuery): Impact | Promise<Impact>
}

import { problem, type PlainProblemCode } from '../../../shared/problems.ts'
import type { Problem } from '../../../shared/problems.ts'

/** The permission that a caller lacks, as the gate requires it: the same for an unknown object and a forbidden one. */
export interface MissingRelation {
  readonly object: string
  readonly relation: string
  readonly subject: string
}

/**
 * A gate denied access. `answer` is what the caller gets: PermissionDenied (S0 convention 3), or the problem that the contract
 * folds the denial into; the audit row says `permission_denied` for both.
 */
export class Refusal extends Error {
  readonly answer: Problem
  readonly missing: MissingRelation
  readonly reason: string

  constructor(answer: Problem, missing: MissingRelation, reason: string) {
    super(`refused: ${missing.subject} lacks ${missing.relation} on ${missing.object} (${reason})`)
    this.name = 'Refusal'
    this.answer = answer
    this.missing = missing
    this.reason = reason
  }
}

/** Makes the PermissionDenied answer. `path` holds the relations that were tried, none of which granted. */
export function permissionDenied(
  missing: MissingRelation,
  reason: 'insufficient_relation' | 'out_of_scope',
  path: readonly string[],
): Refusal {
  const extras = { reason, relation_path: path, missing_relation: missing }
  return new Refusal(problem('permission_denied', extras), missing, reason)
}

/** Makes a denial that looks like another problem. */
export function foldedDenial(code: PlainProblemCode, missing: MissingRelation): Refusal {
  return new Refusal(problem(code), missing, 'insufficient_relation')
}

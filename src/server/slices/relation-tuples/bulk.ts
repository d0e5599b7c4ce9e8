import { Problem, PROBLEMS, type ProblemCode } from '../../../shared/problems.ts'
import type { MemberError } from '../../../shared/problems/row.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { AdmittedTuple, WantedTuple } from '../../ports/tuple-admission.ts'
import type { Change, StoredTuple } from '../../ports/unit-of-work.ts'

/** Maximum of invalid rows that a refusal lists. */
const ERRORS_MAX = 20

/** An invalid row. */
interface RowError extends MemberError {
  /** Its number; the first row is 1. */
  readonly row: number
  readonly code: ProblemCode
}

interface Steps {
  readonly admit: (wanted: WantedTuple) => Promise<AdmittedTuple>
  readonly write: (change: Change, admitted: AdmittedTuple) => Promise<StoredTuple>
}

/**
 * Checks the gate of each row, as for a single create. The audit row names the Project of the first row.
 * @throws PermissionDenied for the first Project that the caller may not manage.
 */
export async function requireEveryProject(
  ctx: RequestContext,
  rows: readonly { readonly project_id: string }[],
): Promise<void> {
  const [first] = rows
  if (first !== undefined) ctx.about(`project:${first.project_id}`)
  for (const projectId of new Set(rows.map((row) => row.project_id)))
    await ctx.require('manage', `project:${projectId}`)
}

/**
 * Creates every tuple or none.
 * @throws Problem with the code of the first row that is wrong; `errors` lists 20 rows at most, `error_count` has their total.
 */
export async function createAll(
  change: Change,
  rows: readonly WantedTuple[],
  { admit, write }: Steps,
): Promise<StoredTuple[]> {
  const created: StoredTuple[] = []
  const errors: RowError[] = []
  for (const [index, wanted] of rows.entries()) {
    try {
      created.push(await write(change, await admit(wanted)))
    } catch (error) {
      errors.push(rowError(index, error))
    }
  }
  const [first] = errors
  if (first === undefined) return created
  throw new Problem(first.code, { errors: errors.slice(0, ERRORS_MAX), error_count: errors.length }, undefined)
}

/** Errors that a caller can correct. Any other error ends the whole request. */
function rowError(index: number, error: unknown): RowError {
  if (!(error instanceof Problem) || error.status >= 500) throw error
  const { code, extras } = error
  // `invalid_triple` names the invalid member and the reason; the other codes concern the whole row.
  const [found] = (extras['errors'] ?? []) as readonly MemberError[]
  const pointer = `/tuples/${index}${found?.pointer ?? ''}`
  return { row: index + 1, pointer, code, detail: found?.detail ?? PROBLEMS[code].detail }
}

import { problem, type PlainProblemCode, type Problem } from '../../shared/problems.ts'
import { DatastoreError } from '../ports/datastore.ts'

/** The problem of a violated unique constraint: its code, or a function of the cause if the problem has further members. */
export type Conflict = PlainProblemCode | ((cause: unknown) => Problem)

/** The problem of each unique constraint or index, by its name. */
export type Conflicts = Readonly<Record<string, Conflict>>

/**
 * Waits for a write and translates the unique constraint that refuses it. The statement that failed has ended its
 * transaction: what the caller does next must be to leave it.
 *
 * @throws Problem of the constraint; the error as it is where `conflicts` does not name one.
 */
export async function conflictsAs<T>(write: Promise<T>, conflicts: Conflicts): Promise<T> {
  try {
    return await write
  } catch (error) {
    const conflict = conflictOf(error, conflicts)
    if (conflict === undefined) throw error
    throw typeof conflict === 'string' ? problem(conflict, {}, error) : conflict(error)
  }
}

function conflictOf(error: unknown, conflicts: Conflicts): Conflict | undefined {
  if (!(error instanceof DatastoreError) || error.failure !== 'unique') return undefined
  const { constraint } = error
  return constraint !== undefined && Object.hasOwn(conflicts, constraint) ? conflicts[constraint] : undefined
}

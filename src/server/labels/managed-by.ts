import type { Db } from '../ports/datastore.ts'
import type { Change } from '../ports/unit-of-work.ts'
import { assignLabel } from './assign.ts'
import type { ObjectKey } from './assignment-store.ts'
import { definitionReference } from './definition.ts'
import { findByKey } from './definition-store.ts'

/** The system label that names the set of files which created an object. */
const MANAGED_BY = 'platform/managed-by'

/** The request that creates. */
interface Creator {
  readonly caller: { readonly subject: string }
  readonly nowMs: number
  /** @throws PermissionDenied */
  require(relation: string, object: string): Promise<void>
}

/** Gives an object that the change has created the label. */
type Mark = (change: Change, object: ObjectKey) => Promise<void>

/**
 * Makes the mark of a set, which is written together with the object: a creation whose answer is lost leaves no object without it.
 * `set` undefined: marks nothing.
 *
 * @throws PermissionDenied for a caller who may not assign the label.
 */
export async function markOfSet(ctx: Creator, db: Db, set: string | undefined): Promise<Mark> {
  if (set === undefined) return async () => undefined
  const definition = await findByKey(db, MANAGED_BY)
  if (definition === undefined) throw new Error(`the system label ${MANAGED_BY} is not defined`)
  const { id: definitionId } = definition
  await ctx.require('assign', definitionReference(definitionId))
  const by = { by: ctx.caller.subject, nowMs: ctx.nowMs }
  return async (change, object) => void (await assignLabel(change, { object, definitionId, value: set, ...by }))
}

import { problem } from '../../../shared/problems.ts'
import type { Db } from '../../ports/datastore.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { announceDefinition, nodeLabelsOfScopeChanged } from '../../labels/announce.ts'
import { definitionReference, type DefinitionRecord } from '../../labels/definition.ts'
import { labelValue, misfitOf, refusedLabel } from '../../labels/label-value.ts'
import { patchedDefinition, type PatchBody } from './definition-body.ts'
import * as store from './store.ts'

/**
 * Changes a Definition. The labels that objects have must fit it afterwards.
 *
 * @throws Problem `definition_not_found`, `immutable_violation`, `aggregate_invariant`, `assignments_exist`,
 *   `definition_in_use` where the type changes and a stored selector compares values of it.
 */
export async function changeDefinition(
  change: Change,
  id: string,
  { body, nowMs }: { readonly body: PatchBody; readonly nowMs: number },
): Promise<DefinitionRecord> {
  const found = await store.lockDefinition(change.db, id)
  if (found === undefined) throw problem('definition_not_found')
  const next = patchedDefinition(found, body, new Date(nowMs))
  if (next.value_schema.type !== found.value_schema.type) await assertUnnamed(change.db, id)
  await assertLabelsFit(change.db, found, next)
  await store.updateDefinition(change.db, next)
  announceDefinition(change, 'LabelDefinitionUpdated', next)
  if (next.inherit !== found.inherit) nodeLabelsOfScopeChanged(change, next)
  return next
}

/** @throws Problem `definition_in_use`, which names what has a selector with the label. */
async function assertUnnamed(db: Db, id: string): Promise<void> {
  const holders = await store.holdersOf(db, id)
  if (holders.length > 0) throw problem('definition_in_use', { holders })
}

async function assertLabelsFit(db: Db, found: DefinitionRecord, next: DefinitionRecord): Promise<void> {
  const isSame = JSON.stringify(found.value_schema) === JSON.stringify(next.value_schema)
  const misfits = isSame ? 0 : await countMisfits(db, next)
  const narrows = next.kinds.length > 0 && JSON.stringify(found.kinds) !== JSON.stringify(next.kinds)
  const elsewhere = narrows ? await store.countOnOtherKinds(db, next.id, next.kinds) : 0
  const assignments = Math.max(misfits, elsewhere)
  if (assignments > 0) throw problem('assignments_exist', { assignments })
}

async function countMisfits(db: Db, { id, value_schema: schema }: DefinitionRecord): Promise<number> {
  const values = await store.valuesInUse(db, id)
  const misfits = values.filter((stored) => misfitOf(schema, labelValue(stored)) !== undefined)
  return misfits.reduce((sum, { count }) => sum + count, 0)
}

/**
 * Deletes a Definition, and does with its labels what its `on_delete` says, in the same transaction.
 *
 * @throws Problem `definition_not_found`, `aggregate_invariant` for a system label, `definition_in_use`, `assignments_exist`.
 */
export async function removeDefinition(change: Change, id: string): Promise<void> {
  const found = await store.lockDefinition(change.db, id)
  if (found === undefined) throw problem('definition_not_found')
  if (found.system) throw refusedLabel(`${found.qualified_key} is a system label, which cannot be deleted.`)
  await assertUnnamed(change.db, id)
  const assignments = await store.countAssignments(change.db, id)
  if (assignments > 0) await releaseLabels(change, found, assignments)
  await store.deleteDefinition(change.db, id)
  await change.tuples.deleteObject(definitionReference(id))
  announceDefinition(change, 'LabelDefinitionDeleted', found)
}

async function releaseLabels(change: Change, definition: DefinitionRecord, assignments: number): Promise<void> {
  const { id, on_delete } = definition
  if (on_delete === 'block') throw problem('assignments_exist', { assignments })
  await store.releaseLabels(change.db, id, on_delete)
  nodeLabelsOfScopeChanged(change, definition)
}

import type { LabelValue } from '../../shared/labels/schema-types.ts'
import { ASSIGNMENTS_MAX } from '../../shared/labels/label-kinds.ts'
import { problem } from '../../shared/problems.ts'
import type { Change } from '../ports/unit-of-work.ts'
import { announceLabel, effectiveLabelsChanged, type AnnouncedLabel } from './announce.ts'
import * as store from './assignment-store.ts'
import type { DefinitionRecord } from './definition.ts'
import { findDefinition, holdDefinition } from './definition-store.ts'
import { misfitOf, refusedLabel, storedValue } from './label-value.ts'

/** A label that somebody gives an object. */
export interface WantedLabel {
  readonly object: store.ObjectKey
  readonly definitionId: string
  readonly value: LabelValue
  /** The subject. */
  readonly by: string
  readonly nowMs: number
}

/**
 * Gives the object the label, or another value of it. The same value again changes nothing. A label that a deleted
 * Definition left behind is adopted.
 *
 * @throws Problem `definition_not_found`, `object_not_found`, `aggregate_invariant`, `immutable_violation`,
 *   `cardinality_exceeded`; nothing is changed then.
 */
export async function assignLabel(change: Change, wanted: WantedLabel): Promise<store.AssignmentRecord> {
  const { object, definitionId, value } = wanted
  const definition = await holdDefinition(change.db, definitionId)
  if (definition === undefined) throw problem('definition_not_found')
  const place = await store.lockObject(change.db, object)
  if (place === undefined) throw problem('object_not_found')
  assertAssignable(definition, place, value)
  const present = await store.findAssignment(change.db, object, definition.qualified_key)
  if (present !== undefined && isSame(present, definition, value)) return present
  if (present === undefined) await assertRoom(change, object)
  else assertChangeable(present, definition)
  const label = assignmentOf(definition, wanted, present)
  await store.upsertAssignments(change.db, [label])
  announceAssigned(change, label, { definition, domainId: place.domain_id })
  return label
}

/** Announces a label that was given, and that the effective labels of nodes changed. */
function announceAssigned(
  change: Change,
  label: store.AssignmentRecord,
  { definition, domainId }: { readonly definition: DefinitionRecord; readonly domainId: string | null },
): void {
  const announced = announcedOf(label, domainId)
  announceLabel(change, 'LabelAssigned', announced)
  effectiveLabelsChanged(change, announced, definition.inherit)
}

/**
 * Takes the label from the object; one that it does not have is taken already.
 * @throws Problem `object_not_found`, `immutable_violation`
 */
export async function removeLabel(change: Change, object: store.ObjectKey, key: string): Promise<void> {
  const place = await store.lockObject(change.db, object)
  if (place === undefined) throw problem('object_not_found')
  const present = await store.findAssignment(change.db, object, key)
  if (present === undefined) return
  // Only read: Definitions are held before nodes, and one that becomes immutable meanwhile does so after this.
  const definition = present.definition_id === null ? undefined : await findDefinition(change.db, present.definition_id)
  if (definition?.immutable === true) throw problem('immutable_violation')
  await store.deleteAssignments(change.db, object, [key])
  const announced = announcedOf(present, place.domain_id)
  announceLabel(change, 'LabelRemoved', announced)
  effectiveLabelsChanged(change, announced, definition?.inherit === true)
}

/** @throws Problem `aggregate_invariant` where the label may not be put on the object, or not with this value. */
export function assertAssignable(definition: DefinitionRecord, place: store.LabelObject, value: LabelValue): void {
  const { qualified_key: key, kinds } = definition
  if (!contains(definition, place)) throw refusedLabel(`${key} is defined in another scope than that of the object.`)
  const isTaken = kinds.length === 0 || kinds.includes(place.kind) || kinds.includes(place.subkind ?? '')
  if (!isTaken) throw refusedLabel(`${key} may only be put on objects of these kinds: ${kinds.join(', ')}.`)
  const misfit = misfitOf(definition.value_schema, value)
  if (misfit !== undefined) throw refusedLabel(`${key}: ${misfit}`)
}

function contains({ scope_kind: kind, domain_id, project_id }: DefinitionRecord, place: store.LabelObject): boolean {
  if (kind === 'platform') return true
  return kind === 'domain' ? place.domain_id === domain_id : place.project_id === project_id
}

/** Whether the object has the label with this value already. */
export function isSame(present: store.AssignmentRecord, { id }: DefinitionRecord, value: LabelValue): boolean {
  const stored = storedValue(value)
  return present.definition_id === id && present.value === stored.value && present.value_type === stored.value_type
}

/** @throws Problem `immutable_violation` where the object has another value, which may not change. */
export function assertChangeable(present: store.AssignmentRecord, definition: DefinitionRecord): void {
  if (definition.immutable && present.definition_id === definition.id) throw problem('immutable_violation')
}

async function assertRoom(change: Change, object: store.ObjectKey): Promise<void> {
  if ((await store.countAssignments(change.db, object)) >= ASSIGNMENTS_MAX) throw problem('cardinality_exceeded')
}

/** The label as it is to be stored. */
export function assignmentOf(
  definition: DefinitionRecord,
  { object, value, by, nowMs }: Omit<WantedLabel, 'definitionId'>,
  present?: store.AssignmentRecord,
): store.AssignmentRecord {
  const at = new Date(nowMs)
  const { id, qualified_key } = definition
  const columns = { qualified_key, definition_id: id, ...storedValue(value), assigned_by: by }
  return { kind: object.kind, object_id: object.id, ...columns, created_at: present?.created_at ?? at, updated_at: at }
}

/** The label as events name it. */
export function announcedOf(label: store.AssignmentRecord, domainId: string | null): AnnouncedLabel {
  const { kind, object_id, qualified_key, definition_id } = label
  return { kind, objectId: object_id, domainId, qualifiedKey: qualified_key, definitionId: definition_id }
}

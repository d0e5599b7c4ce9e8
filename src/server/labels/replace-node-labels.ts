import { ASSIGNMENTS_MAX } from '../../shared/labels/label-kinds.ts'
import { problem } from '../../shared/problems.ts'
import type { Db } from '../ports/datastore.ts'
import type { Change } from '../ports/unit-of-work.ts'
import { announceLabel } from './announce.ts'
import { announcedOf, assertAssignable, assertChangeable, assignmentOf, isSame } from './assign.ts'
import * as store from './assignment-store.ts'
import { immutableAmong } from './definition-store.ts'
import { assertAllAssignable, type LabelWriting, type NodeLabel } from './node-labels.ts'

/** The node whose labels are written, and the subject who does. */
export interface LabelledNode {
  readonly id: string
  readonly by: string
}

/** All labels that a node is to have. */
export interface WantedLabels {
  readonly labels: readonly NodeLabel[]
  readonly writing: LabelWriting
}

/**
 * Makes these the labels of a node, which the caller has locked. Only labels of a Project, which cannot be written so, stay
 * as they are. Gives whether anything changed; the caller announces that its effective labels did.
 *
 * @throws Problem `definition_not_found`, `aggregate_invariant`, `immutable_violation`, `cardinality_exceeded`
 */
export async function replaceNodeLabels(
  change: Change,
  { id, by }: LabelledNode,
  { labels, writing }: WantedLabels,
): Promise<boolean> {
  const object = { kind: 'node', id } as const
  const place = await store.lockObject(change.db, object)
  if (place === undefined) throw new Error(`node ${id} is not among the objects that have labels`)
  const present = await store.readAssignments(change.db, object)
  const { removed, set, count } = differenceOf(present, labels)
  const wanted = set.map(({ label }) => label)
  assertAllAssignable(wanted, writing)
  await assertRemovable(change.db, removed)
  for (const { label, former } of set) assertSettable(label, place, former)
  if (count > ASSIGNMENTS_MAX) throw problem('cardinality_exceeded')
  const rows = set.map(({ label, former }) => rowOf(label, { object, by, writing }, former))
  await write(change, { object, removed, rows, domainId: place.domain_id })
  return removed.length + rows.length > 0
}

/** What has to be done for a node to have these labels. */
interface Difference {
  readonly removed: readonly store.AssignmentRecord[]
  /** Labels that are new or get another value, with what the node has of them now. */
  readonly set: readonly { readonly label: NodeLabel; readonly former: store.AssignmentRecord | undefined }[]
  /** How many labels the node has afterwards. */
  readonly count: number
}

function differenceOf(present: readonly store.AssignmentRecord[], labels: readonly NodeLabel[]): Difference {
  const formers = new Map(present.map((row) => [row.qualified_key, row]))
  const wanted = new Set(labels.map(({ definition }) => definition.qualified_key))
  const kept = present.filter(({ qualified_key: key }) => key.startsWith('project:') && !wanted.has(key))
  const removed = present.filter((row) => !kept.includes(row) && !wanted.has(row.qualified_key))
  const set = labels
    .map((label) => ({ label, former: formers.get(label.definition.qualified_key) }))
    .filter(({ label, former }) => !isKept(former, label))
  return { removed, set, count: kept.length + labels.length }
}

interface Writer {
  readonly object: store.ObjectKey
  readonly by: string
  readonly writing: LabelWriting
}

function rowOf(
  { definition, value }: NodeLabel,
  { object, by, writing: { nowMs } }: Writer,
  former?: store.AssignmentRecord,
): store.AssignmentRecord {
  return assignmentOf(definition, { object, value, by, nowMs }, former)
}

function isKept(present: store.AssignmentRecord | undefined, { definition, value }: NodeLabel): boolean {
  return present !== undefined && isSame(present, definition, value)
}

function assertSettable(
  { definition, value }: NodeLabel,
  place: store.LabelObject,
  present: store.AssignmentRecord | undefined,
): void {
  assertAssignable(definition, place, value)
  if (present !== undefined) assertChangeable(present, definition)
}

/** @throws Problem `immutable_violation` */
async function assertRemovable(db: Db, removed: readonly store.AssignmentRecord[]): Promise<void> {
  const definitions = removed.flatMap(({ definition_id: id }) => id ?? [])
  if (await immutableAmong(db, definitions)) throw problem('immutable_violation')
}

interface Written {
  readonly object: store.ObjectKey
  readonly removed: readonly store.AssignmentRecord[]
  readonly rows: readonly store.AssignmentRecord[]
  readonly domainId: string | null
}

async function write(change: Change, { object, removed, rows, domainId }: Written): Promise<void> {
  const keys = removed.map(({ qualified_key: key }) => key)
  await store.deleteAssignments(change.db, object, keys)
  for (const row of removed) announceLabel(change, 'LabelRemoved', announcedOf(row, domainId))
  await add(change, rows, domainId)
}

async function add(change: Change, rows: readonly store.AssignmentRecord[], domainId: string | null): Promise<void> {
  await store.upsertAssignments(change.db, rows)
  for (const row of rows) announceLabel(change, 'LabelAssigned', announcedOf(row, domainId))
}

/** Gives each node that this transaction added the same labels. They have none yet. */
export async function addNodeLabels(
  change: Change,
  nodes: readonly LabelledNode[],
  { labels, writing }: WantedLabels,
): Promise<void> {
  const rows = nodes.flatMap(({ id, by }) =>
    labels.map((label) => rowOf(label, { object: { kind: 'node', id }, by, writing })),
  )
  await add(change, rows, writing.domainId)
}

/**
 * Takes the labels that a Project defines from a node that leaves it: their scope no longer contains the node.
 * The node is locked.
 */
export async function leaveProjectLabels(
  change: Change,
  { id, domainId }: { readonly id: string; readonly domainId: string },
  projectId: string,
): Promise<void> {
  const object = { kind: 'node', id } as const
  const present = await store.readAssignments(change.db, object)
  const removed = present.filter(({ qualified_key: key }) => key.startsWith(`project:${projectId}/`))
  await write(change, { object, removed, rows: [], domainId })
}

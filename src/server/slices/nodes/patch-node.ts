import { problem } from '../../../shared/problems.ts'
import { nodeLabelsChanged } from '../../labels/announce.ts'
import { resolveNodeLabels, type TextLabels } from '../../labels/node-labels.ts'
import { leaveProjectLabels, replaceNodeLabels } from '../../labels/replace-node-labels.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Db } from '../../ports/datastore.ts'
import type { Change, TuplePlace } from '../../ports/unit-of-work.ts'
import { holdProject } from '../../sql/hold-project.ts'
import { holdPeers, ownStateChanged, peersChanged } from '../../sql/state-revisions.ts'
import { announceRenamed } from './announce.ts'
import { domainOfNode, lockNodePlace, updateNode, type NodeChange, type NodePlace } from './node-store.ts'

/** What people change of a node, and who does. */
export interface NodePatch extends NodeChange {
  /** All of its labels. */
  readonly labels?: TextLabels | undefined
  /** Definitions that the caller may assign. */
  readonly assignable: ReadonlySet<string>
  readonly ids: IdSource
  readonly by: string
  readonly atMs: number
}

/**
 * Changes the editable members of a node. Labels select its policies, so its own state may change; with the name, what it and
 * its peers see; with the Project, its parent edge, the place of the roles on it and the labels that it inherits.
 *
 * @throws Problem `node_not_found`, `node_name_conflict`, `project_not_found`, and those of labels.
 */
export async function patchNode(change: Change, id: string, patch: NodePatch): Promise<void> {
  const domainId = await domainOfNode(change.db, id)
  if (domainId === undefined) throw problem('node_not_found')
  const writing = { domainId, ids: patch.ids, nowMs: patch.atMs, assignable: patch.assignable }
  // As an enrolment does: the Domain's peers are held before Definitions, and these before the node.
  if (patch.name !== undefined) await holdPeers(change.db, domainId)
  const labels = patch.labels && (await resolveNodeLabels(change, patch.labels, writing))
  const stored = await lockNodePlace(change.db, id)
  if (stored === undefined) throw problem('node_not_found')
  await requireProject(change.db, patch.project_id, domainId)
  await updateNode(change.db, id, patch)
  const isRenamed = await renameNode(change, { id, ...stored }, patch.name)
  const isRelabelled =
    labels !== undefined && (await replaceNodeLabels(change, { id, by: patch.by }, { labels, writing }))
  if (isRenamed || labels !== undefined) await ownStateChanged(change.db, [id])
  const hasMoved = await moveNode(change, { id, ...stored }, patch.project_id)
  if (isRelabelled || hasMoved) nodeLabelsChanged(change, { scope: `node:${id}`, domainId, definitionId: null })
  change.credentialChanged('nsk', id)
}

/** @throws Problem `project_not_found` unless the Domain has the Project, where one is named. */
async function requireProject(db: Db, projectId: string | null | undefined, domainId: string): Promise<void> {
  if (projectId && (await holdProject(db, projectId, domainId)) === undefined) throw problem('project_not_found')
}

/** Shows a node's peers its new name; false where it has that name, or none is given. */
async function renameNode(
  change: Change,
  { id, domain_id: domainId, name: former }: NodePlace & { readonly id: string },
  name: string | undefined,
): Promise<boolean> {
  if (name === undefined || name === former) return false
  await peersChanged(change.db, domainId, [id])
  announceRenamed(change, { nodeId: id, domainId }, name)
  return true
}

/** Puts the node into another Project, or into none; false where it is there, or none is named. */
async function moveNode(
  change: Change,
  node: NodePlace & { readonly id: string },
  to: string | null | undefined,
): Promise<boolean> {
  const { id, domain_id: domainId, project_id: from } = node
  if (to === undefined || to === from) return false
  const place = (at: string | null): TuplePlace => ({ domainId, projectId: at })
  await change.tuples.moveObject(`node:${id}`, place(from), place(to))
  if (from !== null) await leaveProjectLabels(change, { id, domainId }, from)
  return true
}

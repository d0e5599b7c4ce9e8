import { problem } from '../../../shared/problems.ts'
import type { Change, TuplePlace } from '../../ports/unit-of-work.ts'
import { holdProject } from '../../sql/hold-project.ts'
import { ownStateChanged } from '../../sql/state-revisions.ts'
import { lockNodePlace, updateNode, type NodeChange } from './node-store.ts'

/**
 * Changes the editable members of a node. Labels select its policies, so its own state may change; with the
 * Project, its parent edge and the place of the roles on it change.
 *
 * @throws Problem `node_not_found`, `node_name_conflict`, `project_not_found`.
 */
export async function patchNode(
  change: Change,
  id: string,
  patch: NodeChange & { readonly atMs: number },
): Promise<void> {
  const stored = await lockNodePlace(change.db, id)
  if (stored === undefined) throw problem('node_not_found')
  const { project_id: projectId } = patch
  if (projectId && (await holdProject(change.db, projectId, stored.domain_id)) === undefined)
    throw problem('project_not_found')
  await updateNode(change.db, id, patch)
  if (patch.labels !== undefined) await ownStateChanged(change.db, [id])
  if (projectId !== undefined && projectId !== stored.project_id) {
    const place = (at: string | null): TuplePlace => ({ domainId: stored.domain_id, projectId: at })
    await change.tuples.moveObject(`node:${id}`, place(stored.project_id), place(projectId))
  }
  change.credentialChanged('nsk', id)
}

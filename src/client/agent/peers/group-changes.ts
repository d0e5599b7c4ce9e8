import type { GroupChange } from '../../../shared/events/wire-types.ts'
import type { PeerView } from './peer-view.ts'
import type { Member } from '../member.ts'
import { isPulling } from '../state/is-pulling.ts'

/**
 * Applies the group changes of a hint to the peers that the node knows. A peer that it does not know brings its groups when it
 * comes; the node itself may be among the members, and its own groups mean nothing to it.
 */
export function applyGroupChanges(node: Member, changes: readonly GroupChange[]): void {
  const { view, pulling } = node
  if (isPulling(node))
    for (const nodeId of changes.flatMap(({ added, removed }) => [...added, ...removed]))
      pulling.changedPeers.add(nodeId)
  // Without a first pull there is nothing to change. The server will request the pull.
  if (view === undefined) return
  for (const { group, added, removed } of changes) {
    for (const nodeId of added) regroup(view, nodeId, (groups) => withGroup(groups, group))
    for (const nodeId of removed) regroup(view, nodeId, (groups) => groups.filter((one) => one !== group))
  }
}

function regroup(view: PeerView, nodeId: string, change: (groups: readonly number[]) => readonly number[]): void {
  const known = view.find(nodeId)
  if (known !== undefined) view.set(nodeId, { ...known, groups: change(known.groups) })
}

function withGroup(groups: readonly number[], group: number): readonly number[] {
  return groups.includes(group) ? groups : [...groups, group].toSorted((one, other) => one - other)
}

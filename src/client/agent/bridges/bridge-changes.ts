import { createOwnBridges, type OwnBridges } from './own-bridges.ts'
import type { BridgeConfigUpdatedPayload } from '../../../shared/events/wire-types.ts'
import type { Member } from '../member.ts'
import type { MemberDeps, MeshParts } from '../agent-deps.ts'
import { isPulling } from '../state/is-pulling.ts'
import { applyBridgeSoon, deleteReportSoon } from './bridge-host.ts'

/** The part of a pull that is about bridges. */
interface PulledBridges {
  /** Canonical JSON of the configurations. */
  readonly bridges: string
  /** Ids of the bridges of which the server has a report of the node, ascending. */
  readonly reportedBridges: readonly string[]
  /** A bridge that it does not have may be hosted nevertheless. */
  readonly mayBeOlder: boolean
}

/** Takes the bridges of a pull, and applies those that are others. Deletes reports of bridges that the node does not host. */
export function applyPulledBridges<M extends Member>(
  deps: MemberDeps<M>,
  node: M,
  { bridges: text, reportedBridges, mayBeOlder }: PulledBridges,
): void {
  const bridges = bridgesOf(deps, node)
  const { changed, refused } = bridges.replace(deps.mesh.bridges.given(text), node.pulling.changedBridges)
  deps.statistics.count('bad_bridge_configs', refused.length)
  for (const resourceId of changed) applyBridgeSoon(deps, node, { resourceId })
  // What an earlier run has left of a bridge goes on until a newest answer does not have it.
  if (mayBeOlder) return
  deps.actions.bridgesPulled(node, new Set([...bridges.list().map(({ resourceId }) => resourceId), ...refused]))
  for (const resourceId of reportedBridges) {
    const isHosted = bridges.find(resourceId) !== undefined || refused.includes(resourceId)
    if (!isHosted && !node.hosted.has(resourceId)) deleteReportSoon(deps, node, resourceId)
  }
}

/** Takes a `bridge_config_updated` and applies it. Returns false if a pull is needed, because it must be refused. */
export function applyBridgeUpdate<M extends Member>(
  deps: MemberDeps<M>,
  node: M,
  update: BridgeConfigUpdatedPayload,
): boolean {
  const { bridge_resource_id: resourceId } = update
  if (!bridgesOf(deps, node).apply(update)) {
    deps.statistics.count('bad_bridge_configs')
    return false
  }
  if (isPulling(node)) node.pulling.changedBridges.add(resourceId)
  applyBridgeSoon(deps, node, { resourceId })
  return true
}

/** Fetches the secrets of all hosted bridges again: one may have a new version. */
export function refreshSecrets<M extends Member>(deps: MemberDeps<M>, node: M): void {
  for (const { resourceId, secretRefs } of node.bridges?.list() ?? [])
    if (secretRefs.length > 0) applyBridgeSoon(deps, node, { resourceId, refetches: true })
}

function bridgesOf({ mesh }: { readonly mesh: MeshParts }, node: Member): OwnBridges {
  return (node.bridges ??= createOwnBridges(mesh.bridges.read))
}

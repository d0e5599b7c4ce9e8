import type { FleetNode } from './fleet-node.ts'

/**
 * Nodes of which nothing was heard since an instant: their last heartbeat is older or, where none ever came, their
 * registration. One that the server calls healthy is never among them, whatever this machine's clock says.
 */
export function silentSince(nodes: readonly FleetNode[], sinceMs: number): readonly FleetNode[] {
  return nodes.filter(
    ({ reachability, last_heartbeat_at, created_at }) =>
      reachability !== 'healthy' && Date.parse(last_heartbeat_at ?? created_at) < sinceMs,
  )
}

import type { Change } from '../../ports/unit-of-work.ts'
import { peersChanged } from '../../sql/state-revisions.ts'
import { readRelays, type Relay } from './relay-store.ts'

/** The endpoint of a node, for its peers. */
export interface EndpointChange {
  readonly nodeId: string
  /** `host:port`; empty where it has become stale. */
  readonly endpoint: string
}

/**
 * Announces endpoints that are new or have become stale to the Domain, in the transaction that stores them and locks
 * the Domain's peers.
 */
export async function announceEndpoints(
  change: Change,
  domainId: string,
  changes: readonly EndpointChange[],
): Promise<void> {
  const nodeIds = changes.map(({ nodeId }) => nodeId)
  await peersChanged(change.db, domainId, nodeIds)
  const relays = await readRelays(change.db, domainId)
  for (const { nodeId, endpoint } of changes) {
    const payload = { node_id: nodeId, endpoint, ...fallback(relays, nodeId) }
    change.emit({ event: 'peer_endpoint_changed', domainId, aggregate: `node:${nodeId}`, payload })
  }
}

/** The endpoint of the relay for edges to that node. */
function fallback(relays: readonly Relay[], nodeId: string): { fallback_endpoint?: string } {
  const endpoint = relays.find((relay) => relay.nodeId !== nodeId)?.endpoint
  return endpoint === undefined || endpoint === '' ? {} : { fallback_endpoint: endpoint }
}

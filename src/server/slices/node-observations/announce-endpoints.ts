import type { Change } from '../../ports/unit-of-work.ts'
import { announceRelays, relayedBy } from '../../sql/announce-relays.ts'
import { endpointChange } from '../../sql/endpoint-change.ts'
import { createFallbacks, readHops, readPreferences } from '../../sql/relay-hops.ts'
import { peersChanged } from '../../sql/state-revisions.ts'

/** The endpoint of a node, for its peers. */
export interface EndpointChange {
  readonly nodeId: string
  /** `host:port`; empty where it has become stale. */
  readonly endpoint: string
  /** None where it has become stale. */
  readonly candidates: readonly string[]
}

/**
 * Announces endpoints that are new or have become stale to the Domain, in the transaction that stores them and locks
 * the Domain's peers. Where a node carries edges of others, these are reached elsewhere now: that is announced too.
 */
export async function announceEndpoints(
  change: Change,
  domainId: string,
  changes: readonly EndpointChange[],
): Promise<void> {
  const nodeIds = changes.map(({ nodeId }) => nodeId)
  await peersChanged(change.db, domainId, nodeIds)
  const hops = await readHops(change.db, domainId)
  // Without relays there is nothing to prefer.
  const preferences = hops.length === 0 ? new Map<string, string>() : await readPreferences(change.db, nodeIds)
  const fallbackOf = createFallbacks(hops)
  for (const { nodeId, ...reached } of changes) {
    const fallback = fallbackOf(nodeId, preferences.get(nodeId) ?? null)
    const payload = endpointChange(nodeId, { ...reached, fallback })
    change.emit({ event: 'peer_endpoint_changed', domainId, aggregate: `node:${nodeId}`, payload })
  }
  await announceRelays(change, domainId, await relayedBy(change.db, hops, nodeIds))
}

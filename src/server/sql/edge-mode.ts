/** Two nodes that carry edges: the second one those that end at the first one. */
export interface RelayPair {
  readonly relay_node_id: string | null
  readonly second_relay_node_id: string | null
}

/** Who carries the edges of a Domain whose far end has no fresh endpoint. */
export interface Relays extends RelayPair {
  /** The nodes of bridges that nodes prefer, by resource id. Absent: none are preferred. */
  readonly preferred?: ReadonlyMap<string, RelayPair>
}

export interface FarEnd {
  readonly nodeId: string
  /** Whether it has an endpoint that is not stale. */
  readonly hasEndpoint: boolean
  /** The bridge that it prefers, if any. */
  readonly bridgeId?: string | null
}

/** How a node reaches another one. */
export type EdgeWay = { readonly mode: 'direct' } | { readonly mode: 'relayed'; readonly relayNodeId: string }

const DIRECT: EdgeWay = { mode: 'direct' }

/** The nodes that may carry edges to nodes that prefer the bridge, the best first: those of the bridge, then those of the Domain. */
export function relayChain(relays: Relays, bridgeId?: string | null): readonly string[] {
  const own = bridgeId === null || bridgeId === undefined ? undefined : relays.preferred?.get(bridgeId)
  const pairs = own === undefined ? [relays] : [own, relays]
  return pairs.flatMap(({ relay_node_id: first, second_relay_node_id: second }) => {
    if (first === null) return []
    return second === null ? [first] : [first, second]
  })
}

/**
 * The relay of edges that end at that node; null where there is none. A node does not relay to itself. The far end decides,
 * since all nodes share what they are given of it.
 */
export function relayTo(nodeId: string, relays: Relays, bridgeId?: string | null): string | null {
  return relayChain(relays, bridgeId).find((id) => id !== nodeId) ?? null
}

/**
 * How `from` reaches the far end (decisions: Mode): directly where its endpoint is fresh, else by its relay, else directly
 * for want of another way. The relay itself has no way but the direct one.
 */
export function edgeWay(from: string, to: FarEnd, relays: Relays): EdgeWay {
  if (to.hasEndpoint) return DIRECT
  const relay = relayTo(to.nodeId, relays, to.bridgeId)
  return relay === null || relay === from ? DIRECT : { mode: 'relayed', relayNodeId: relay }
}

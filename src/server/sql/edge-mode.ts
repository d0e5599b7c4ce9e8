/** Who carries the edges of a Domain whose far end has no fresh endpoint: columns of `domain_peers`. */
export interface Relays {
  readonly relay_node_id: string | null
  readonly second_relay_node_id: string | null
}

export interface FarEnd {
  readonly nodeId: string
  /** Whether it has an endpoint that is not stale. */
  readonly hasEndpoint: boolean
}

/** How a node reaches another one. */
export type EdgeWay = { readonly mode: 'direct' } | { readonly mode: 'relayed'; readonly relayNodeId: string }

const DIRECT: EdgeWay = { mode: 'direct' }

/** The relay of edges that end at that node; null where there is none. A node does not relay to itself. */
export function relayTo(nodeId: string, relays: Relays): string | null {
  return relays.relay_node_id === nodeId ? relays.second_relay_node_id : relays.relay_node_id
}

/**
 * How `from` reaches the far end (decisions: Mode): directly where its endpoint is fresh, else by its relay, else directly
 * for want of another way. The relay itself has no way but the direct one.
 */
export function edgeWay(from: string, to: FarEnd, relays: Relays): EdgeWay {
  if (to.hasEndpoint) return DIRECT
  const relay = relayTo(to.nodeId, relays)
  return relay === null || relay === from ? DIRECT : { mode: 'relayed', relayNodeId: relay }
}

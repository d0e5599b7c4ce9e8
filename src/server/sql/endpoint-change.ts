/** Where a node is reached. */
export interface Reached {
  /** `host:port`; empty where none is known that is fresh. */
  readonly endpoint: string
  /** Empty where there is no relay. */
  readonly fallback: string
  readonly candidates: readonly string[]
}

/** The payload of a change of where a node is reached. What is absent in it, the node has not. */
export function endpointChange(nodeId: string, { endpoint, fallback, candidates }: Reached) {
  return {
    node_id: nodeId,
    endpoint,
    ...(fallback !== '' && { fallback_endpoint: fallback }),
    ...(candidates.length > 0 && { candidates: [...candidates] }),
  }
}

/** Where a node sees one of its peers. */
export interface EndpointObservationRow {
  /** The node that is seen. */
  node_id: string
  observer_id: string
  /** Written as `last_endpoint` is. */
  endpoint: string
  endpoint_port: number
  /** When the observer reported any address of it for the first time, by the server’s clock. */
  first_seen_at: Date
  /** When the observer reported that address for the first time, by the server’s clock. */
  seen_since: Date
  /** When it reported it last, by its own clock. */
  observed_at: Date
}

declare module '../../ports/tables/tables.ts' {
  interface Tables {
    endpoint_observations: EndpointObservationRow
  }
}

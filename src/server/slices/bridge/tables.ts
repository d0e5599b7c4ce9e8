/** A port that the hosts of a bridge listen on. */
interface BridgeListenPortRow {
  resource_id: string
  listen_port: number
  /** `relay`, or `user-access/<slug>`. */
  owner: string
}

/** A subnet of a tunnel, as a range of numbers that no other subnet of the bridge may overlap. */
interface BridgeTunnelSubnetRow {
  resource_id: string
  slug: string
  /** In PostgreSQL's text form. */
  span: string
}

declare module '../../ports/tables/tables.ts' {
  interface Tables {
    bridge_listen_ports: BridgeListenPortRow
    bridge_tunnel_subnets: BridgeTunnelSubnetRow
  }
}

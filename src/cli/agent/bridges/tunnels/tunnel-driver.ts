/** The kinds of tunnels to other sites. */
export type TunnelKind = 'wireguard' | 'ipsec' | 'openvpn'

/** A tunnel to another site as the effective configuration of a bridge has it, with its secret. */
export interface Tunnel {
  readonly slug: string
  readonly kind: TunnelKind
  /** An IP address without brackets, or a host name. */
  readonly remote_host: string
  readonly remote_port: number
  /** Canonical CIDRs. */
  readonly allowed_subnets: readonly string[]
  readonly routing_policy: 'bidirectional' | 'ingress_only' | 'egress_only'
  /** What `auth_secret_ref` names: text that an operator wrote. It is checked like any other input. */
  readonly secret: Uint8Array
}

/** Where a tunnel is on this machine. */
export interface TunnelPlace {
  readonly bridgeId: string
  /** At most 15 of `a-z0-9`; always the same for the bridge, the slug and the kind. */
  readonly interfaceName: string
}

/**
 * One way to run tunnels. Tunnels are known by their interface, also those that an earlier process of the agent has left. The
 * subnets were checked against the mesh and this machine before. Directions are the firewall's.
 */
export interface TunnelDriver {
  /**
   * Opens the tunnel, or changes the one of that interface, and sets the routes of its subnets. Resolves with why it is not
   * applied, a sentence without the secret and without the slug (what ran before goes on then), or with undefined. That the other
   * end does not answer is no reason. @throws CliError likewise
   */
  apply(place: TunnelPlace, tunnel: Tunnel): Promise<string | undefined>
  /** Removes the tunnel of that interface, if there is one, with its routes, processes and files. */
  remove(interfaceName: string): Promise<void>
  /** What does not work now, a sentence without the slug; undefined: everything works, or there is no such tunnel. */
  fault(interfaceName: string): string | undefined
  /** Stops watching. Tunnels stay. */
  close(): Promise<void>
}

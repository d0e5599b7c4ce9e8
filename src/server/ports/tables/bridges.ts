/** Tables of bridges: what each consists of, and what its hosts are to run. */
export interface BridgesTables {
  bridge_relays: BridgeRelayRow
  bridge_user_access: BridgeUserAccessRow
  bridge_user_access_peers: BridgeUserAccessPeerRow
  bridge_ingress_rules: BridgeIngressRuleRow
  bridge_tunnels: BridgeTunnelRow
  bridge_secret_refs: BridgeSecretRefRow
  bridge_configs: BridgeConfigRow
  bridge_addressees: BridgeAddresseeRow
}

/** The relay of a bridge resource (S1 Relay). */
interface BridgeRelayRow {
  resource_id: string
  domain_id: string
  enabled: boolean
  listen_port: number
  created_at: Date
  updated_at: Date
}

/** A user-access provider (S1 User-access provider). */
interface BridgeUserAccessRow {
  resource_id: string
  slug: string
  kind: 'overlay_a' | 'overlay_b' | 'wireguard'
  interface_name: string
  listen_port: number
  max_peers: number
  auth_secret_ref: string
  /** The canonical JSON of an object. */
  routing_policy: string
  /** The network that its peers have their addresses of; null: it has no peers. */
  peer_subnet: string | null
  created_at: Date
  updated_at: Date
}

/** A device that may connect to a user-access provider. */
interface BridgeUserAccessPeerRow {
  resource_id: string
  /** Of the provider. */
  slug: string
  /** Unique in the provider. */
  name: string
  /** Curve25519, 32 bytes in padded base64. */
  public_key: string
  /** IPv4, of the subnet of the provider. */
  address: string
  created_at: Date
}

/** A public ingress rule (S1 Public ingress rule). */
interface BridgeIngressRuleRow {
  resource_id: string
  slug: string
  sni_host: string
  /** The node may be deregistered. */
  target_node_id: string
  target_port: number
  /** Null: TLS is passed through to the target. */
  acme_account_ref: string | null
  created_at: Date
  updated_at: Date
}

/** A site-to-site tunnel (S1 Site-to-site tunnel). */
interface BridgeTunnelRow {
  resource_id: string
  slug: string
  kind: 'wireguard' | 'ipsec' | 'openvpn'
  remote_host: string
  remote_port: number
  auth_secret_ref: string
  /** Sorted. */
  allowed_subnets: string[]
  routing_policy: 'bidirectional' | 'ingress_only' | 'egress_only'
  created_at: Date
  updated_at: Date
}

/** A secret that the configuration of a bridge names. */
interface BridgeSecretRefRow {
  resource_id: string
  /** `user-access/<slug>`, `ingress/<slug>` or `site-to-site/<slug>`. */
  owner: string
  project_id: string
  name: string
  /** Null: the newest one. */
  version: number | null
}

/** What a bridge resource's hosts are to run. It outlives the resource until its former hosts received its end. */
interface BridgeConfigRow {
  resource_id: string
  domain_id: string
  /** The canonical JSON of an object, built once per change and sent as it is. */
  effective_config: string
  updated_at: Date
}

/** A node that was sent a configuration of the bridge and not yet its end. */
interface BridgeAddresseeRow {
  resource_id: string
  node_id: string
}

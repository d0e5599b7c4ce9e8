import type { Generated } from 'kysely'

/** Tables of a Domain's mesh: peers and bridges. */
export interface MeshTables {
  domain_peers: DomainPeersRow
  bridge_configs: BridgeConfigRow
  bridge_addressees: BridgeAddresseeRow
  bridge_relays: BridgeRelayRow
}

/** How far the peers of a Domain have changed. Its row is also the lock under which they change. */
interface DomainPeersRow {
  domain_id: string
  /** Rises with each change of what nodes see of their peers. */
  revision: string
  /** An older revision gives no difference through `nodes.peer_revision`: a peer was removed, or the relay changed. */
  whole_revision: Generated<string>
  /** The node that would carry an edge whose far end has no fresh endpoint. */
  relay_node_id: Generated<string | null>
  /** The node that would carry an edge to `relay_node_id`. */
  second_relay_node_id: Generated<string | null>
  /** The last number given to a policy group; 0 before the first. */
  last_group: Generated<number>
}

/** What a bridge resource's hosts are to run. */
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

/** The relay of a bridge resource (S1 Relay). */
interface BridgeRelayRow {
  resource_id: string
  domain_id: string
  enabled: boolean
}

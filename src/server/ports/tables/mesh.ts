import type { Generated } from 'kysely'

/** Tables of a Domain's mesh: its peers, and the relays that they prefer. */
export interface MeshTables {
  domain_peers: DomainPeersRow
  relay_preferences: RelayPreferenceRow
  relay_choices: RelayChoiceRow
}

/** The bridge whose relay carries the edges to a node. The node or the bridge may be gone. */
interface RelayPreferenceRow {
  node_id: string
  domain_id: string
  resource_id: string
}

/** The nodes that carry the edges to the nodes that prefer a bridge. A bridge without a row carries none. */
interface RelayChoiceRow {
  resource_id: string
  domain_id: string
  relay_node_id: string
  /** Carries the edges to `relay_node_id`. */
  second_relay_node_id: string | null
  listen_port: number
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
  /** The ports of the relays by which the two were chosen; null without a node. */
  relay_port: Generated<number | null>
  second_relay_port: Generated<number | null>
  /** The last number given to a policy group; 0 before the first. */
  last_group: Generated<number>
  /** A digest of what `nodes.hosted_subnets` were chosen by; empty without any. */
  subnet_basis: Generated<string>
}

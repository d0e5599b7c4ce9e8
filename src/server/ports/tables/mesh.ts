import type { Generated } from 'kysely'

/** Tables of a Domain's mesh: its peers. */
export interface MeshTables {
  domain_peers: DomainPeersRow
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

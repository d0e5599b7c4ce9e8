import type { Generated } from 'kysely'
import type { Json } from './json.ts'

/** Tables of a Domain's mesh: addresses, peers, policies and bridges. */
export interface MeshTables {
  domain_peers: DomainPeersRow
  policies: PolicyRow
  policy_revisions: PolicyRevisionRow
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
}

/** A policy with its revision in force. */
interface PolicyRow {
  id: string
  domain_id: string
  revision_id: string
  created_at: Date
  updated_at: Date
}

interface PolicyRevisionRow {
  id: string
  policy_id: string
  domain_id: string
  /** Labels that a node must have, each with that value; `{}` matches every node of the Domain. */
  selector: Json<Readonly<Record<string, string>>>
  /** Compiled rules in canonical order: the canonical JSON of an array, stored once and sent as it is. */
  rules: string
  /** SHA-256 of `rules` in padded base64. */
  fingerprint: string
  created_at: Date
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

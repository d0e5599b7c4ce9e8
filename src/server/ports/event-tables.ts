import type { ColumnType, Generated } from 'kysely'
import type { WireType } from '../../shared/events/wire-types.ts'

/** Tables of the way of an event to its node, as both datastores return their rows. */
export interface EventTables {
  node_lanes: NodeLaneRow
  peer_hints: PeerHintRow
  node_hints: NodeHintRow
  outgoing_events: OutgoingEventRow
  event_log: EventLogRow
  event_log_head: EventLogHeadRow
  policies: PolicyRow
  policy_revisions: PolicyRevisionRow
  bridge_configs: BridgeConfigRow
  bridge_addressees: BridgeAddresseeRow
}

/** JSON columns: written as text (`JSON.stringify`), read as values. */
type Json<T> = ColumnType<T, string, string>

/** Where one node's events stand. A lane opens with the node's registration and closes with its deregistration. */
export interface NodeLaneRow {
  node_id: string
  domain_id: string
  /** The `node_seq` given last; 0 before the first event. */
  last_seq: Generated<string>
  /** The outbox row up to which the node has been told of changed peers and of its own changed blocks. */
  hinted_seq: string
  /** When the last hint was made. */
  hinted_at: Date
}

/** A change of a peer that the other nodes of the Domain hear of. Kept until each of them has. */
interface PeerHintRow {
  /** Its outbox row. */
  seq: string
  domain_id: string
  /** Whose change it is. */
  node_id: string
  peer: Json<Readonly<Record<string, unknown>>>
}

/** A change of one node's own blocks. Kept until it has heard. */
interface NodeHintRow {
  seq: string
  node_id: string
  /** A `StateBlock`. */
  block: string
}

/** An event with its place in its node's order, on its way to the bus. Deleted once the bus has it. */
export interface OutgoingEventRow {
  id: Generated<string>
  node_id: string
  domain_id: string
  node_seq: string
  event_id: string
  type: WireType
  /** Canonical JSON. */
  payload: string
  occurred_at: Date
  /** When the change that it tells of was committed, as far as the outbox row says: what lag is measured from. */
  committed_at: Date
  /** The signed envelope; null until it is signed, and never signed anew. */
  wire: string | null
  /** Why it cannot go on. It holds up its node's later events until a later try succeeds. */
  failure: string | null
  tried_at: Date | null
}

/** The embedded event stream: append-only. */
interface EventLogRow {
  seq: string
  node_id: string
  node_seq: string
  type: WireType
  wire: string
  at: Date
}

/** The last number given in the log; the row is also the lock of appending. */
interface EventLogHeadRow {
  id: number
  seq: string
  /** The highest number that was ever pruned: who has not read so far may have missed an event. */
  pruned_seq: Generated<string>
  /** Rows up to this one were looked at for how many events their nodes have. */
  counted_seq: Generated<string>
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

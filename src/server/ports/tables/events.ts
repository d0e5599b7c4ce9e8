import type { Generated } from 'kysely'
import type { WireType } from '../../../shared/events/wire-types.ts'
import type { Json } from './json.ts'

/** Tables of an event's way to its node. */
export interface EventsTables {
  node_lanes: NodeLaneRow
  peer_hints: PeerHintRow
  node_hints: NodeHintRow
  visibility_changes: VisibilityChangeRow
  pending_peers: PendingPeersRow
  outgoing_events: OutgoingEventRow
  event_log: EventLogRow
  event_log_head: EventLogHeadRow
}

/** The position of one node's events. A lane opens with the node's registration and closes with its deregistration. */
export interface NodeLaneRow {
  node_id: string
  domain_id: string
  /** The `node_seq` given last; 0 before the first event. */
  last_seq: Generated<string>
  /** The outbox row up to which the node received changes of its peers and of its own blocks. */
  hinted_seq: string
  /** When the last hint was made. */
  hinted_at: Date
}

/** A change of a peer, or of a group of them, that is due to the nodes of the Domain. Kept until each of them received it. */
interface PeerHintRow {
  /** Its outbox row. */
  seq: string
  domain_id: string
  /** The peer that changed; null where it is a group. */
  node_id: string | null
  peer: Json<Readonly<Record<string, unknown>>> | null
  /** A group that nodes joined or left; null where it is a peer. */
  group_change: Json<Readonly<Record<string, unknown>>> | null
  /**
   * With peer visibility `reachable`: whether the nodes that it concerns are in `pending_peers`; null until that is decided.
   * False: it is due to every lane of the Domain.
   */
  is_narrow: Generated<boolean | null>
  /** What decided who saw a deregistered node: a `FormerPlace`; null for other changes. */
  former: Json<Readonly<Record<string, unknown>> | null>
}

/** A change of what decides who sees whom in a Domain. Kept until it is known which nodes it concerns. */
interface VisibilityChangeRow {
  seq: string
  domain_id: string
  /** The revision of the Domain's peers that the change raised. */
  revision: string
}

/** A node that is to be hinted of peers, in a Domain with peer visibility `reachable`. */
interface PendingPeersRow {
  node_id: string
  domain_id: string
  /** The changes after this outbox row are due. */
  after_seq: string
  /** Other peers are visible to it: it is to pull its state. */
  is_resync: boolean
}

/** A change of one node's own blocks. Kept until the node received it. */
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
  /** Commit time of its change, from the outbox row: lag is measured from it. */
  committed_at: Date
  /** The signed envelope; null until it is signed, and never signed a second time. */
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
  /** The highest number that was ever pruned: a reader behind it may have missed an event. */
  pruned_seq: Generated<string>
  /** Rows up to this one were looked at for how many events their nodes have. */
  counted_seq: Generated<string>
}

/** Event types of the wire (S0 Events). Clients tolerate others: a later server may have more. */
export const WIRE_TYPES = [
  'node_state_updated',
  'policy_updated',
  'bridge_config_updated',
  'action_request',
  'session_setup',
] as const

export type WireType = (typeof WIRE_TYPES)[number]

/** The parts of a node's state that may have changed. */
export const STATE_BLOCKS = ['peers', 'keys', 'policy', 'bridge', 'executions', 'sessions', 'self'] as const

export type StateBlock = (typeof STATE_BLOCKS)[number]

/** What can happen to a peer. */
export const PEER_CHANGES = [
  'registered',
  'deregistered',
  'psk_assigned',
  'key_rotated',
  'endpoint_changed',
  'groups_changed',
  'renamed',
  'subnets_changed',
] as const

export type PeerChangeWord = (typeof PEER_CHANGES)[number]

/** A change of a peer. Several changes of one peer between two hints are merged; the newest facts win. */
export interface PeerChange {
  readonly node_id: string
  /** In order of occurrence, each once. */
  readonly changes: readonly PeerChangeWord[]
  /** Unique in the Domain. */
  readonly name?: string
  /** `host:port`; empty when the peer's endpoint is stale. */
  readonly endpoint?: string
  readonly fallback_endpoint?: string
  /** `host:port` each; absent beside an endpoint: none. */
  readonly candidates?: readonly string[]
  /** 32 bytes in padded base64. */
  readonly public_key?: string
  readonly mesh_address?: string
  /** UTC with nine fractional digits, as in pulls: texts compare as instants do. */
  readonly psk_issued_at?: string
  /** All groups of the peer, ascending. */
  readonly groups?: readonly number[]
  /** All networks behind the peer, sorted. */
  readonly subnets?: readonly string[]
}

/** Peers that a group has gained and lost: of a new group, all of its members among the node's peers. */
export interface GroupChange {
  /** A positive integer. */
  readonly group: number
  /** Node ids, ascending. */
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/** Maximum of peers in one hint; with more, the hint has the reason `resync` (decisions: Merging). */
export const PEERS_INLINE_MAX = 64

/** A hint: the named blocks changed. `resync`: more changed than the hint carries, pull the state. */
export interface NodeStateUpdatedPayload {
  readonly reason: 'changed' | 'resync'
  /** Sorted. With `resync`, every block may have changed, not only the named ones. */
  readonly blocks: readonly StateBlock[]
  /** By `node_id`; empty with `resync`. */
  readonly peers: readonly PeerChange[]
  /** By `group`; to be applied after `peers`. Absent where no group changed. */
  readonly groups?: readonly GroupChange[]
}

/** S0 PolicyUpdatedPayload. */
export interface PolicyUpdatedPayload {
  /** The stream's node. */
  readonly node_id: string
  readonly policy_id: string
  /** On deletion the last one applied. */
  readonly revision_id: string
  /** SHA-256 of the canonical rules in padded base64, as the state pull shows it. */
  readonly fingerprint: string
  /** Compiled rules in canonical order; empty on deletion. */
  readonly rules: readonly unknown[]
}

/** S0 BridgeConfigUpdatedPayload. */
export interface BridgeConfigUpdatedPayload {
  readonly node_id: string
  readonly bridge_resource_id: string
  /** As the state pull shows it, byte for byte; `{}` once the bridge was removed from this node. */
  readonly effective_config: Readonly<Record<string, unknown>>
}

/** An execution that waits for the node, as the state pull shows it. */
export interface ActionRequestPayload {
  readonly execution_id: string
  readonly action: string
  readonly type: 'builtin' | 'hook'
  readonly parameters?: Readonly<Record<string, unknown>>
  readonly status: 'pending'
  /** RFC 3339. */
  readonly requested_at: string
  readonly expires_at: string
}

/** The kinds of mediated sessions. */
export const SESSION_KINDS = ['ssh', 'cluster_api', 'tcp'] as const

export type SessionKind = (typeof SESSION_KINDS)[number]

/** A new mediated session, as the state pull shows it. */
export interface SessionSetupPayload {
  readonly session_id: string
  /** Equals the session id. */
  readonly jti: string
  readonly kind: SessionKind
  readonly target: string
  readonly expires_at: string
  readonly idle_timeout_seconds?: number
}

/** The payload of each type. */
export interface Payloads {
  readonly node_state_updated: NodeStateUpdatedPayload
  readonly policy_updated: PolicyUpdatedPayload
  readonly bridge_config_updated: BridgeConfigUpdatedPayload
  readonly action_request: ActionRequestPayload
  readonly session_setup: SessionSetupPayload
}

import type { ColumnType, Generated } from 'kysely'

/** Tables of what nodes report, of what they are to do, and of how far that has changed. */
export interface MeshTables {
  domain_peers: DomainPeersRow
  domain_peer_marks: DomainPeerMarkRow
  node_endpoints: NodeEndpointRow
  node_capabilities: NodeCapabilitiesRow
  node_integrity_violations: NodeIntegrityViolationRow
  node_state_reports: NodeStateReportRow
  key_rotations: KeyRotationRow
  executions: ExecutionRow
  mediated_sessions: MediatedSessionRow
  bridge_relays: BridgeRelayRow
  capacity_targets: CapacityTargetRow
}

/** JSON columns: written as text (`JSON.stringify`), read as values. */
type Json<T> = ColumnType<T, string, string>

/** How far the peers of a Domain have changed. Its row is also the lock under which they change. */
interface DomainPeersRow {
  domain_id: string
  /** Rises with each change of what nodes see of their peers. */
  revision: string
  /** Whoever knows an older revision cannot learn the difference from `nodes.peer_revision`: a peer is gone, or the relay is another. */
  whole_revision: Generated<string>
  /** The node that would carry an edge whose far end has no fresh endpoint. */
  relay_node_id: Generated<string | null>
  /** Who would carry an edge to that one. */
  second_relay_node_id: Generated<string | null>
}

/** What the revision of a Domain's peers was at an instant: tells how long a node has been behind. */
interface DomainPeerMarkRow {
  domain_id: string
  at: Date
  revision: string
}

/** The address under which a node is seen from outside. A node that reported none has no row. */
interface NodeEndpointRow {
  node_id: string
  domain_id: string
  /** An IPv4 address, or an IPv6 address as RFC 5952 writes it, without brackets. */
  last_endpoint: string
  last_endpoint_port: number
  nat_type: string
  /** The node's own instant of the observation. */
  last_endpoint_reported_at: Date
  /** Since when it is stale; null while it is fresh. */
  last_endpoint_stale_at: Date | null
}

interface NodeCapabilitiesRow {
  node_id: string
  binary_version: string
  /** 32 bytes. */
  binary_checksum: Buffer
  ssh_host_key_fingerprint: string | null
  /** By name; checksums as 64 hex digits. */
  hooks: Json<readonly { readonly name: string; readonly checksum: string }[]>
  updated_at: Date
}

/** What a node said is not as it should be. Stays when the node goes: the remedy is another node. */
interface NodeIntegrityViolationRow {
  id: string
  node_id: string
  domain_id: string
  kind: 'binary' | 'hook' | 'host_key'
  artifact: string
  expected_checksum: Buffer | null
  observed_checksum: Buffer | null
  detected_at: Date
  accepted_at: Date
}

interface NodeStateReportRow {
  node_id: string
  key: string
  /** Canonical JSON, at most 4,096 bytes. */
  value: string
  updated_at: Date
}

/** A key rotation; at most one of a node is pending. */
interface KeyRotationRow {
  id: string
  node_id: string
  domain_id: string
  state: 'pending' | 'completed'
  requested_at: Date
  requested_by: string
  completed_at: Date | null
}

interface ExecutionRow {
  id: string
  node_id: string
  domain_id: string
  action: string
  type: 'builtin' | 'hook'
  /** Canonical JSON of an object. */
  parameters: string | null
  status: 'pending' | 'ack' | 'started' | 'succeeded' | 'failed' | 'cancelled' | 'timeout'
  requested_by: string
  requested_at: Date
  expires_at: Date
  started_at: Date | null
  /** Set exactly when the status is an end. */
  finished_at: Date | null
  exit_code: number | null
  output: string | null
  error: string | null
}

/** A way through a node. Live while it is neither revoked nor ended; a sweeper ends it at `expires_at`. */
interface MediatedSessionRow {
  id: string
  domain_id: string
  project_id: string
  node_id: string
  kind: 'ssh' | 'cluster_api' | 'tcp'
  target: string
  issued_by: string
  issued_at: Date
  expires_at: Date
  idle_timeout_seconds: number | null
  last_active_at: Date | null
  revoked_at: Date | null
  ended_at: Date | null
}

/** The relay of a bridge resource (S1 Relay). */
interface BridgeRelayRow {
  resource_id: string
  domain_id: string
  enabled: boolean
}

/** How much of a dimension a Domain may have; without a row the dimension's default holds, and 0 is no bound (S1 Capacity). */
interface CapacityTargetRow {
  domain_id: string
  dimension: string
  target: string
}

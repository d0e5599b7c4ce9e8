import type { Generated } from 'kysely'
import type { Json } from './json.ts'

/** Tables of nodes: their enrolment, their keys and what they report. */
export interface NodesTables {
  join_tokens: JoinTokenRow
  nodes: NodeRow
  node_heartbeats: NodeHeartbeatRow
  node_secret_keys: NodeSecretKeyRow
  node_endpoints: NodeEndpointRow
  node_capabilities: NodeCapabilitiesRow
  node_state_reports: NodeStateReportRow
  key_rotations: KeyRotationRow
}

export interface JoinTokenRow {
  id: string
  domain_id: string
  project_id: string | null
  node_id: string | null
  prefix: string
  fingerprint: Buffer
  fingerprint_key_id: string
  labels: Json<Record<string, string>>
  ephemeral: boolean
  max_uses: number
  uses: number
  created_by: string
  created_at: Date
  expires_at: Date
  revoked_at: Date | null
}

export interface NodeRow {
  id: string
  domain_id: string
  project_id: string | null
  name: string
  kind: string
  public_key: Buffer
  mesh_address: string
  /** The sealed per-node preshared key that edge keys derive from. */
  psk_sealed: Buffer
  /** Integer nanoseconds since the epoch (decisions: Keys). */
  psk_issued_at: string
  /** A copy of its own assignments, as text, which a trigger keeps: those of its Domain by local key, others by qualified key. */
  labels: Json<Record<string, string>>
  /** The policy groups that it is in, ascending. */
  policy_groups: Generated<number[]>
  ephemeral: boolean
  /** When it was last enrolled under the same id with a join token for it; null where that never happened. */
  enrolled_again_at: Generated<Date | null>
  /** The revision of the Domain's peers with which it changed last, as others see it. */
  peer_revision: Generated<string>
  /** The subnets that its peers reach through it, sorted: those of tunnels of bridges that it is chosen to host. */
  hosted_subnets: Generated<string[]>
  created_at: Date
  updated_at: Date
}

/** Split from `nodes` so that a heartbeat touches no indexed column and every update stays heap-only. */
export interface NodeHeartbeatRow {
  node_id: string
  created_at: Date
  accepted_at: Date | null
  healthy_since: Date | null
  binary_version: string | null
  binary_checksum: Buffer | null
  /** The reachability in the last outbox row. */
  announced_state: Generated<'never_reported' | 'healthy' | 'stale' | 'unreachable'>
  /** Rises with each change of the node's own state: policies, bridges, reports, executions, sessions. */
  node_revision: Generated<string>
  /** `node_revision` at the node's last pull; null before the first pull. */
  pulled_node_revision: Generated<string | null>
  /** The revision of its Domain's peers at that pull. */
  pulled_peer_revision: Generated<string | null>
  /** Whether a key rotation waits for the node. */
  rotation_pending: Generated<boolean>
}

export interface NodeSecretKeyRow {
  node_id: string
  kid: string
  fingerprint: Buffer
  fingerprint_key_id: string
  created_at: Date
  /** First use of a key that replaced another one; a node's first key never records it. */
  first_used_at: Date | null
  /** When an old key stops working after a rotation; the newest key has none. */
  retires_at: Date | null
  revoked_at: Date | null
}

/** The address under which peers reach a node. A node of which no address was reported has no row. */
interface NodeEndpointRow {
  node_id: string
  domain_id: string
  /** What peers get: an IPv4 address, or an IPv6 address as RFC 5952 writes it, without brackets. */
  last_endpoint: string
  last_endpoint_port: number
  /** Of the node’s own report. */
  nat_type: string | null
  /** The instant of the newest report of that address, by the clock of the node that sent it. */
  last_endpoint_reported_at: Date
  /** Since when it is stale; null while it is fresh. */
  last_endpoint_stale_at: Date | null
  /** The node’s own report, fresh or not; null where it has reported nothing. */
  own_endpoint: Generated<string | null>
  own_endpoint_port: Generated<number | null>
  own_reported_at: Generated<Date | null>
  /** Other addresses of the node, `host:port`, as it last reported them; none once the endpoint is stale. */
  candidates: Generated<string[]>
}

interface NodeCapabilitiesRow {
  node_id: string
  binary_version: string
  /** 32 bytes. */
  binary_checksum: Buffer
  ssh_host_key_fingerprint: string | null
  /** As releases name architectures; null where the agent does not say it. */
  architecture: Generated<string | null>
  /** By name; checksums as 64 hex digits. */
  hooks: Json<readonly { readonly name: string; readonly checksum: string }[]>
  updated_at: Date
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

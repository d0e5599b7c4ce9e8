import type { ColumnType, Generated } from 'kysely'
import type { AuditTables } from './audit-tables.ts'
import type { EventTables } from './event-tables.ts'
import type { MeshTables } from './mesh-tables.ts'
import type { SignInTables } from './sign-in-tables.ts'

/** What a row of each table holds, as both datastores return it: bigint as string, instants as Date, bytes as Buffer. */
export interface Tables extends AuditTables, EventTables, MeshTables, SignInTables {
  keyring: KeyringRow
  signing_keys: SigningKeyRow
  domains: DomainRow
  projects: ProjectRow
  resources: ResourceRow
  resource_hosts: ResourceHostRow
  groups: GroupRow
  principals: PrincipalRow
  api_tokens: ApiTokenRow
  join_tokens: JoinTokenRow
  nodes: NodeRow
  node_heartbeats: NodeHeartbeatRow
  node_secret_keys: NodeSecretKeyRow
  mesh_pools: MeshPoolRow
  mesh_addresses_resting: RestingAddressRow
  mesh_addresses_rested: RestedAddressRow
  relation_tuples: RelationTupleRow
  authz_head: AuthzHeadRow
  authz_changes: AuthzChangeRow
  authz_index_marks: AuthzIndexMarkRow
  outbox: OutboxRow
  outbox_head: OutboxHeadRow
  outbox_consumers: OutboxConsumerRow
  leader_term: LeaderTermRow
}

/** JSON columns: written as text (`JSON.stringify`), read as values. */
type Json<T> = ColumnType<T, string, string>

interface KeyringRow {
  key_id: string
  purpose: string
  sealed: Buffer
  created_at: Date
  retired_at: Date | null
}

interface SigningKeyRow {
  kid: string
  /** 32 bytes, Ed25519. */
  public_key: Buffer
  /** The private key as PKCS #8, sealed; null once the key verifies nothing any more. */
  private_sealed: Buffer | null
  created_at: Date
  /** When it was published. */
  not_before: Date
  signs_from: Date
  /** Until when it verifies; null while no other key is to follow it. */
  not_after: Date | null
}

export interface DomainRow {
  id: string
  slug: string
  display_name: string
  mesh_cidr: string
  endpoint_ttl_seconds: number
  trusted_networks: Json<string[]>
  business_hours: Json<BusinessHours | null>
  strong_acr: Json<string[]>
  /** 1 to 3650. */
  audit_retention_days: Generated<number>
  created_at: Date
  updated_at: Date
}

export interface BusinessHours {
  time_zone: string
  days: number[]
  from: string
  to: string
}

export interface ProjectRow {
  id: string
  domain_id: string
  slug: string
  display_name: string
  created_at: Date
  updated_at: Date
}

export interface ResourceRow {
  id: string
  domain_id: string
  project_id: string
  kind: 'bridge' | 'network' | 'workload' | 'vm'
  slug: string
  display_name: string
  created_at: Date
  updated_at: Date
}

interface ResourceHostRow {
  resource_id: string
  node_id: string
}

export interface GroupRow {
  id: string
  domain_id: string
  slug: string
  display_name: string
  /** The group of the identity provider whose members it mirrors; null where people manage it. */
  provider_group: Generated<string | null>
  created_at: Date
}

export interface PrincipalRow {
  id: string
  domain_id: string
  kind: 'user' | 'service-identity'
  display_name: string
  /** Sealed external subject; the plaintext shows only to auditors. */
  subject_sealed: Buffer
  /** HMAC-SHA-256 of (Domain, subject) in hex: the pseudonym, and what makes a subject unique in its Domain. */
  subject_pseudonym: string
  email: string | null
  jwks: Json<unknown> | null
  spiffe_id: string | null
  last_sign_in_at: Date | null
  /** Of a user: which binding it came by. */
  binding_id: Generated<string | null>
  /** Since when it may not sign in. */
  disabled_at: Generated<Date | null>
  created_at: Date
  updated_at: Date
}

export interface ApiTokenRow {
  id: string
  domain_id: string
  owner_id: string
  owner_kind: 'user' | 'service-identity'
  name: string
  prefix: string
  fingerprint: Buffer
  fingerprint_key_id: string
  scopes: Json<string[]>
  lifetime_seconds: number
  created_at: Date
  expires_at: Date
  last_used_at: Date | null
  revoked_at: Date | null
  rotated_to: string | null
  /** Not shown in lists: tokens of the token endpoint. */
  hidden: boolean
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
  labels: Json<Record<string, string>>
  ephemeral: boolean
  /** The revision of the Domain's peers with which it changed last, as others see it. */
  peer_revision: Generated<string>
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
  /** The reachability that the last outbox row told of. */
  announced_state: Generated<'never_reported' | 'healthy' | 'stale' | 'unreachable'>
  /** Rises with each change of the node's own state: policies, bridges, reports, executions, sessions. */
  node_revision: Generated<string>
  /** What it was when the node pulled last; null before the first pull. */
  pulled_node_revision: Generated<string | null>
  /** What the revision of its Domain's peers was then. */
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

/** Numbers of a Domain's mesh addresses that no node ever had start here; the row is also the lock of allocation. */
interface MeshPoolRow {
  domain_id: string
  next_number: number
}

/** An address that was freed less than its time of rest ago, or longer and is not moved on yet. */
interface RestingAddressRow {
  domain_id: string
  mesh_address: string
  freed_at: Date
}

/** An address that was freed, has rested and is free. */
interface RestedAddressRow {
  domain_id: string
  mesh_address: string
}

export interface RelationTupleRow {
  id: string
  subject_type: string
  subject_id: string
  /** Empty for a direct subject; `member` in `group:x#member`. */
  subject_relation: string
  relation: string
  resource_type: string
  resource_id: string
  /** Empty when the tuple has no caveat. */
  caveat_name: string
  caveat_fields: Json<string[]>
  domain_id: string | null
  project_id: string | null
  structural: boolean
  revision: string
  created_at: Date
  /** `pending`: SpiceDB may not have it yet. `revoking`: SpiceDB may still have it. Always `live` where there is no SpiceDB. */
  state: Generated<'pending' | 'live' | 'revoking'>
}

interface AuthzHeadRow {
  id: number
  revision: string
  /** SpiceDB's token of the last write; null before the first. */
  zed_token: string | null
  /** The last revision whose tuples SpiceDB may not have heard of; null when it has heard of all. */
  unmirrored_revision: string | null
  /** SHA-256 in hex of the authorization schema that every tuple was last held against. */
  schema_digest: string | null
}

export interface AuthzChangeRow {
  revision: string
  ordinal: number
  /**
   * `tuple_touched`, `tuple_deleted` carry the tuple; `credential_changed` its `{kind, id}`; `domain_changed` the Domain's
   * id; `tuples_settled` the token of SpiceDB's last write.
   */
  kind: string
  payload: Json<unknown>
}

/** A file that keeps an authorization index as it was at the revision. */
interface AuthzIndexMarkRow {
  mark: string
  revision: string
  made_at: Date
}

export interface OutboxRow {
  id: Generated<string>
  /** Given by the leader in commit order; null until then. */
  seq: string | null
  event: string
  domain_id: string | null
  aggregate: string
  payload: Json<unknown>
  correlation_id: string
  occurred_at: Date
}

/** The last number given to an outbox row; the row is also the lock of numbering. */
interface OutboxHeadRow {
  id: number
  seq: string
}

interface OutboxConsumerRow {
  name: string
  /** The last row that it is done with. */
  seq: string
}

interface LeaderTermRow {
  id: number
  /** Rises whenever a process becomes leader. */
  term: string
  /** Host and process id of who took it, for people. */
  holder: string
}

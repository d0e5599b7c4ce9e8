import { z } from 'zod'
import { Instant, Labels, Slug, Uuid, uuidField } from './fields.ts'
import { SigningKey } from './signing-keys.ts'

export const ReachabilityState = z.enum(['never_reported', 'healthy', 'stale', 'unreachable'])

/** 64 hex digits or padded base64 of 32 bytes (decisions 2). */
export const Checksum = z
  .string()
  .regex(/^([0-9a-fA-F]{64}|[A-Za-z0-9+/]{43}=)$/)
  .meta({ problem: 'invalid_checksum', description: 'SHA-256 as 64 hex digits or padded base64' })

export const BinaryVersion = z.string().min(1).max(128)

export const PublicKey = z
  .string()
  .regex(/^[A-Za-z0-9+/]{43}=$/)
  .meta({ problem: 'invalid_public_key', description: 'Curve25519 public key: 32 bytes in padded base64' })

/** In lists `name` and `kind` stay empty strings (S0 Nodes); the display members have the values. */
const summary = {
  id: Uuid,
  name: z.string(),
  domain_id: Uuid,
  kind: z.string(),
  created_at: Instant,
  display_name: z.string(),
  display_kind: z.string(),
  reachability: ReachabilityState,
  last_heartbeat_at: Instant.nullable(),
  binary_version: z.string().nullable(),
  mesh_address: z.string(),
  endpoint: z
    .string()
    .nullable()
    .describe('`host:port` that the node reported last; null while there is none or it is stale'),
  labels: z.record(z.string(), z.string()),
  psk_issued_at: z.string().describe('UTC, nine fractional digits'),
  rotation_pending: z.boolean().describe('A key rotation waits for the node'),
  ephemeral: z.boolean().describe('Deregistered automatically once it has been unreachable for ten minutes'),
}

export const NodeSummary = z.object(summary).meta({ id: 'NodeSummary' })

/** The capabilities that a node declared. */
const DeclaredCapabilities = z
  .object({
    binary_version: z.string(),
    binary_checksum: z.string().describe('SHA-256 as 64 hex digits'),
    ssh_host_key_fingerprint: z.string().nullable(),
    architecture: z.string().nullable().describe('As releases name it; null where the agent does not report it'),
    hooks: z
      .array(z.object({ name: z.string(), checksum: z.string().describe('SHA-256 as 64 hex digits') }))
      .describe('By name'),
    updated_at: Instant,
  })
  .meta({ id: 'NodeCapabilities' })

export const NodeDetail = z
  .object({
    ...summary,
    project_id: Uuid.nullable(),
    public_key: z.string(),
    nat_type: z.string().nullable().describe('As the node observed it with its endpoint; null before it reported one'),
    endpoint_reported_at: Instant.nullable().describe(
      'When the node observed the endpoint, also if it is stale by now',
    ),
    capabilities: DeclaredCapabilities.nullable().describe('Null until the node declared them'),
    nsk: z
      .array(z.object({ kid: z.string(), created_at: Instant, retires_at: Instant.nullable() }))
      .describe('Ids of the valid keys'),
    updated_at: Instant,
  })
  .meta({ id: 'NodeDetail' })

export const NodePatchRequest = z
  .strictObject({
    name: Slug.optional(),
    labels: Labels.optional().describe('All labels of the node; replaces the current ones'),
    project_id: uuidField('invalid_body', 'Project of its Domain that the node belongs to; null for none')
      .nullable()
      .optional(),
  })
  .meta({ id: 'NodePatchRequest' })

export const NodeRegisterRequest = z
  .strictObject({
    name: Slug.describe('Unique in the Domain; a DNS label'),
    kind: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,62}$/)
      .describe('vm, bridge, worker, …'),
    public_key: PublicKey,
    binary_version: BinaryVersion.optional(),
    binary_checksum: Checksum.optional(),
  })
  .meta({ id: 'NodeRegisterRequest' })

export const NodeRegisterResponse = z
  .object({
    node_id: Uuid,
    domain_id: Uuid,
    mesh_address: z.string(),
    psk_issued_at: z.string().describe('Its half of the epoch of each edge: UTC, nine fractional digits'),
    nsk: z.string().meta({ description: 'The node secret key; shown only once', 'x-service-write-once': true }),
    signing_keys: z.array(SigningKey).describe('Keys that verify event envelopes, as GET /v1/signing-keys lists them'),
    heartbeat_interval_seconds: z.int(),
  })
  .meta({ id: 'NodeRegisterResponse' })

export const NodeSecretKeyIssued = z
  .object({
    nsk: z.string().meta({ description: 'The node secret key; shown only once', 'x-service-write-once': true }),
    kid: z.string(),
    previous_retires_at: Instant,
  })
  .meta({ id: 'NodeSecretKeyIssued' })

export const HeartbeatRequest = z
  .strictObject({
    client_now: z.iso.datetime({ offset: true }).describe('Clock of the node; within 60 s of the server'),
    binary_checksum: Checksum,
    binary_version: BinaryVersion,
  })
  .meta({ id: 'NodeHeartbeatRequest' })

export const HeartbeatResponse = z
  .object({
    accepted_at: Instant,
    reconcile: z.boolean().describe('Pull the state again'),
    rotate_keys: z.boolean().describe('A key rotation is pending'),
  })
  .meta({ id: 'NodeHeartbeatResponse' })

export const Reachability = z
  .object({ state: ReachabilityState, last_heartbeat_at: Instant.optional(), changed_at: Instant })
  .meta({ id: 'Reachability' })

import { z } from 'zod'
import {
  CreatedAt,
  InDomain,
  InProject,
  Instant,
  Labels,
  OfNode,
  OwnId,
  ShownName,
  Slug,
  UpdatedAt,
  uuidField,
} from './fields.ts'
import { SigningKey } from './signing-keys.ts'

export const ReachabilityState = z.enum(['never_reported', 'healthy', 'stale', 'unreachable'])

/** 64 hex digits or padded base64 of 32 bytes (decisions 2). */
export const Checksum = z
  .string()
  .regex(/^([0-9a-fA-F]{64}|[A-Za-z0-9+/]{43}=)$/)
  .meta({ problem: 'invalid_checksum', description: 'SHA-256 as 64 hex digits or padded base64' })

/** The block that the addresses of a Domain's nodes come from. */
export const MeshCidr = z
  .string()
  .describe('Part of 100.64.0.0/10 that the addresses of all nodes of the Domain come from')

export const BinaryVersion = z.string().min(1).max(128)

export const PublicKey = z
  .string()
  .regex(/^[A-Za-z0-9+/]{43}=$/)
  .meta({ problem: 'invalid_public_key', description: 'Curve25519 public key: 32 bytes in padded base64' })

/** In lists `name` and `kind` stay empty strings (S0 Nodes); the display members have the values. */
const summary = {
  id: OwnId,
  name: z.string().describe('Always empty here; `display_name` has the name'),
  domain_id: InDomain,
  kind: z.string().describe('Always empty here; `display_kind` has the kind'),
  created_at: CreatedAt,
  display_name: ShownName,
  display_kind: z.string().describe('What the node is, such as vm, bridge or worker'),
  reachability: ReachabilityState.describe('Whether the node reports in time'),
  last_heartbeat_at: Instant.nullable().describe('When the node reported last; null before the first time'),
  binary_version: z.string().nullable().describe('Version of the agent; null before it reported one'),
  mesh_address: z.string().describe('Address of the node in the mesh'),
  endpoint: z
    .string()
    .nullable()
    .describe('`host:port` that the node reported last; null while there is none or it is stale'),
  labels: z.record(z.string(), z.string()).describe('Labels of the node by key'),
  psk_issued_at: z.string().describe('UTC, nine fractional digits'),
  rotation_pending: z.boolean().describe('A key rotation waits for the node'),
  ephemeral: z.boolean().describe('Deregistered automatically once it has been unreachable for ten minutes'),
}

export const NodeSummary = z.object(summary).meta({ id: 'NodeSummary', description: 'A node, as lists show it.' })

/** The capabilities that a node declared. */
const DeclaredCapabilities = z
  .object({
    binary_version: z.string().describe('Version of the agent'),
    binary_checksum: z.string().describe('SHA-256 as 64 hex digits'),
    ssh_host_key_fingerprint: z
      .string()
      .nullable()
      .describe('`SHA256:` and 43 base64 characters; null where the agent does not report it'),
    architecture: z.string().nullable().describe('As releases name it; null where the agent does not report it'),
    hooks: z
      .array(
        z.object({
          name: z.string().describe('Name of the hook'),
          checksum: z.string().describe('SHA-256 as 64 hex digits'),
        }),
      )
      .describe('By name'),
    updated_at: UpdatedAt,
  })
  .meta({ id: 'NodeCapabilities', description: 'What the agent of a node declared about itself.' })

export const NodeDetail = z
  .object({
    ...summary,
    name: z.string().describe('Name of the node, unique in the Domain'),
    kind: z.string().describe('What the node is, such as vm, bridge or worker'),
    project_id: InProject.nullable().describe('Project of the node; null where it is in none'),
    mesh_cidr: MeshCidr,
    public_key: z.string().describe('Curve25519 public key: 32 bytes in padded base64'),
    nat_type: z.string().nullable().describe('As the node observed it with its endpoint; null before it reported one'),
    endpoint_reported_at: Instant.nullable().describe(
      'When the node or a peer observed the endpoint, also if it is stale by now',
    ),
    capabilities: DeclaredCapabilities.nullable().describe('Null until the node declared them'),
    nsk: z
      .array(
        z.object({
          kid: z.string().describe('Id of the key'),
          created_at: CreatedAt,
          retires_at: Instant.nullable().describe('When the key stops working; null for the newest key'),
        }),
      )
      .describe('Ids of the valid keys'),
    updated_at: UpdatedAt,
  })
  .meta({ id: 'NodeDetail', description: 'A node.' })

export const NodePatchRequest = z
  .strictObject({
    name: Slug.optional(),
    labels: Labels.optional().describe('All labels of the node; replaces the current ones'),
    project_id: uuidField('invalid_body', 'Project of its Domain that the node belongs to; null for none')
      .nullable()
      .optional()
      .describe('Project of its Domain that the node belongs to; null for none'),
  })
  .meta({ id: 'NodePatchRequest', description: 'Members of a node to change.' })

export const NodeRegisterRequest = z
  .strictObject({
    name: Slug.describe('Unique in the Domain; a DNS label'),
    kind: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,62}$/)
      .describe('vm, bridge, worker, …'),
    public_key: PublicKey,
    binary_version: BinaryVersion.optional().describe('Version of the agent, at most 128 characters'),
    binary_checksum: Checksum.optional(),
  })
  .meta({ id: 'NodeRegisterRequest', description: 'A node that joins.' })

export const NodeRegisterResponse = z
  .object({
    node_id: OfNode,
    domain_id: InDomain,
    mesh_address: z.string().describe('Address of the node in the mesh'),
    mesh_cidr: MeshCidr,
    psk_issued_at: z.string().describe('Its half of the epoch of each edge: UTC, nine fractional digits'),
    nsk: z.string().meta({ description: 'The node secret key; shown only once', 'x-service-write-once': true }),
    signing_keys: z.array(SigningKey).describe('Keys that verify event envelopes, as GET /v1/signing-keys lists them'),
    heartbeat_interval_seconds: z.int().describe('Seconds between two heartbeats of the node'),
  })
  .meta({
    id: 'NodeRegisterResponse',
    description: 'What an enrolled node needs: its key, its address, and the keys that verify its events.',
  })

export const NodeSecretKeyIssued = z
  .object({
    nsk: z.string().meta({ description: 'The node secret key; shown only once', 'x-service-write-once': true }),
    kid: z.string().describe('Id of the new key'),
    previous_retires_at: Instant.describe('When the previous key stops working'),
  })
  .meta({ id: 'NodeSecretKeyIssued', description: 'A new secret key of a node, which is shown only here.' })

export const HeartbeatRequest = z
  .strictObject({
    client_now: z.iso.datetime({ offset: true }).describe('Clock of the node; within 60 s of the server'),
    binary_checksum: Checksum,
    binary_version: BinaryVersion.describe('Version of the agent, at most 128 characters'),
  })
  .meta({ id: 'NodeHeartbeatRequest', description: 'A sign of life of a node.' })

export const HeartbeatResponse = z
  .object({
    accepted_at: Instant.describe('When the heartbeat was accepted'),
    reconcile: z.boolean().describe('Pull the state again'),
    rotate_keys: z.boolean().describe('A key rotation is pending'),
  })
  .meta({ id: 'NodeHeartbeatResponse', description: 'What the node should do next.' })

export const Reachability = z
  .object({
    state: ReachabilityState.describe('Whether the node reports in time'),
    last_heartbeat_at: Instant.optional().describe('When the node reported last; absent before the first time'),
    changed_at: Instant.describe('When the state changed last'),
  })
  .meta({ id: 'Reachability', description: 'Whether a node reports in time.' })

const nodesIn = (state: string) => z.int().describe(`Nodes that were ${state}`)

export const ReachabilityHistory = z
  .object({
    domain_id: InDomain,
    interval_seconds: z.int().describe('Seconds between two samples'),
    since: Instant.describe('Beginning of the period'),
    until: Instant.describe('End of the period, which is not in it'),
    samples: z
      .array(
        z
          .object({
            at: Instant.describe('When it was taken: a multiple of the interval since the epoch'),
            healthy: nodesIn('healthy'),
            stale: nodesIn('stale'),
            unreachable: nodesIn('unreachable'),
            never_reported: z.int().describe('Nodes that had never reported'),
          })
          .meta({ id: 'ReachabilitySample', description: 'How many nodes of a Domain were in each state.' }),
      )
      .describe('Oldest first; an instant at which none was taken is missing, as is one at which there were no nodes'),
  })
  .meta({ id: 'ReachabilityHistory', description: 'How the reachability of the nodes of a Domain developed.' })

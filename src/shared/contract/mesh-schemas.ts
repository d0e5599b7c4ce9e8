import { z } from 'zod'
import { Instant, JsonValue, Uuid, uuidField } from './fields.ts'
import { BinaryVersion, Checksum, PublicKey, ReachabilityState } from './node-schemas.ts'

/** An instant as a client sends it. */
const SentInstant = z.iso.datetime({ offset: true })

/** An instant that is also in the years 1 to 9999 in UTC: others have no RFC 3339 text in UTC. */
const KeptInstant = SentInstant.refine(isInYears, { error: 'must be in the years 1 to 9999 of UTC' })

function isInYears(instant: string): boolean {
  const year = new Date(instant).getUTCFullYear()
  return year >= 1 && year <= 9_999
}

export const EndpointRequest = z
  .strictObject({
    endpoint: z
      .string()
      .describe(
        '`host:port` as seen from outside: an IPv4 address, or an IPv6 address in brackets; no loopback, no name',
      ),
    nat_type: z.enum(['cone', 'restricted', 'port_restricted', 'symmetric', 'unknown']),
    reported_at: SentInstant.describe('When the node observed it; within 60 s of the server'),
  })
  .meta({ id: 'EndpointRequest' })

export const EndpointResponse = z
  .object({ accepted_at: Instant, stale_after: Instant.describe('When it becomes stale without another report') })
  .meta({ id: 'EndpointResponse' })

/** Maximum of hooks of a node. */
const HOOKS_MAX = 256

const Hook = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,127}$/, {
    error:
      'must begin with a lower-case letter or digit, then letters, digits, dots, hyphens, underscores; at most 128',
  }),
  checksum: Checksum,
})

export const CapabilitiesRequest = z
  .strictObject({
    binary_version: BinaryVersion,
    binary_checksum: Checksum,
    ssh_host_key_fingerprint: z
      .string()
      .regex(/^SHA256:[A-Za-z0-9+/]{43}$/, {
        error: 'must be SHA256: and 43 base64 characters, as ssh-keygen prints it',
      })
      .optional()
      .describe('Absent: the known one stays'),
    architecture: z
      .string()
      .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, {
        error:
          'must begin with a lower-case letter or digit, then letters, digits, dots, hyphens, underscores; at most 64',
      })
      .optional()
      .describe('Architecture of the machine, as releases name it; absent: the known one stays'),
    hooks: z
      .array(Hook)
      .max(HOOKS_MAX)
      .refine((hooks) => new Set(hooks.map(({ name }) => name)).size === hooks.length, { error: 'names a hook twice' })
      .optional()
      .describe('Programs that executions may name, besides the built-in actions; absent: none'),
  })
  .meta({ id: 'NodeCapabilitiesRequest' })

export const CapabilitiesResponse = z
  .object({
    accepted_at: Instant,
    fields_changed: z.array(z.string()).describe('Members that differ from what was reported before, sorted'),
    host_key_changed: z.boolean().describe('Whether a known SSH host key has changed'),
  })
  .meta({ id: 'NodeCapabilitiesResponse' })

/** Violations in one batch (decisions: Nodes). */
const VIOLATIONS_MAX = 256

const IntegrityViolationReport = z.strictObject({
  kind: z.enum(['binary', 'hook', 'host_key']),
  artifact: z.string().min(1).max(512).describe('The checked object: a path, or a hook’s name'),
  expected_checksum: Checksum.optional(),
  observed_checksum: Checksum.optional(),
  detected_at: KeptInstant,
})

export const IntegrityViolationsRequest = z
  .strictObject({
    violations: z.array(IntegrityViolationReport).min(1).max(VIOLATIONS_MAX).meta({ problem: 'invalid_batch' }),
  })
  .meta({ id: 'NodeIntegrityViolationsRequest' })

export const IntegrityViolationsResponse = z
  .object({ accepted_at: Instant, violation_count: z.int() })
  .meta({ id: 'NodeIntegrityViolationsResponse' })

export const StateReportRequest = z
  .strictObject({ value: JsonValue.describe('Any JSON; at most 4,096 bytes in canonical form (RFC 8785)') })
  .meta({ id: 'NodeStateReportRequest' })

export const StateReportResponse = z.object({ key: z.string(), accepted_at: Instant }).meta({
  id: 'NodeStateReportResponse',
})

/** The half of an edge's epoch that belongs to one node. */
export const PskIssuedAt = z.string().meta({
  description: 'When the node’s preshared key was created: UTC, nine fractional digits, of fixed width',
  examples: ['2026-11-21T09:30:00.123000000Z'],
})

const Peer = z.object({
  node_id: Uuid,
  public_key: z.string().describe('Curve25519, 32 bytes in padded base64'),
  mesh_address: z.string(),
  endpoint: z.string().describe('`host:port`; empty while none is known or the last one is stale'),
  fallback_endpoint: z.string().optional().describe('`host:port` of the relay for the edge'),
  psk_issued_at: PskIssuedAt,
  groups: z
    .array(z.int().positive())
    .describe('Policy groups that the peer is in, ascending: rules of policies name peers by them'),
})

const PulledExecution = z.object({
  execution_id: Uuid,
  action: z.string(),
  type: z.enum(['builtin', 'hook']),
  parameters: z.record(z.string(), z.unknown()).optional(),
  status: z.enum(['pending', 'ack', 'started']),
  requested_at: Instant,
  expires_at: Instant,
})

const PulledSession = z.object({
  session_id: Uuid,
  jti: Uuid.describe('Equals the session id'),
  kind: z.enum(['ssh', 'cluster_api', 'tcp']),
  target: z.string(),
  expires_at: Instant,
  idle_timeout_seconds: z.int().optional(),
})

export const NodeStateSnapshot = z
  .object({
    peers: z.array(Peer).describe('Every other node of the Domain, by node id'),
    policy: z.object({
      policies: z.array(
        z.object({ policy_id: Uuid, revision_id: Uuid, fingerprint: z.string(), rules: z.array(z.unknown()) }),
      ),
    }),
    bridge: z.object({
      resources: z.array(z.object({ bridge_resource_id: Uuid, effective_config: z.record(z.string(), z.unknown()) })),
    }),
    'state/reports': z.record(z.string(), z.unknown()).describe('The node’s last report under each key'),
    executions: z.array(PulledExecution).describe('Those not ended, by `requested_at`, then id'),
    sessions: z.array(PulledSession).describe('Those live, by when they were issued, then id'),
  })
  .meta({ id: 'NodeStateSnapshot', description: 'Canonical JSON (RFC 8785): equal data is equal bytes' })

export const EdgeMode = z.enum(['direct', 'relayed'])

export const KeyRotation = z
  .object({
    rotation_id: Uuid,
    node_id: Uuid,
    state: z.enum(['pending', 'completed']),
    requested_at: Instant,
    requested_by: z.string().describe('Subject, as `user:…` or `serviceaccount:…`'),
    completed_at: Instant.nullable(),
  })
  .meta({ id: 'KeyRotation' })

export const KeyRotationPreview = z
  .object({
    node_id: Uuid,
    edges: z.array(z.object({ peer_node_id: Uuid, mode: EdgeMode })).describe('By peer id'),
    edge_count: z.int(),
    estimated_duration_seconds: z.int(),
  })
  .meta({ id: 'KeyRotationPreview' })

export const KeyRotationCompletionRequest = z
  .strictObject({ public_key: PublicKey })
  .meta({ id: 'KeyRotationCompletionRequest' })

export const KeyRotationCompleted = z
  .object({ rotation_id: Uuid, node_id: Uuid, completed_at: Instant, psk_issued_at: PskIssuedAt })
  .meta({ id: 'KeyRotationCompleted' })

export const MeshTopology = z
  .object({
    domain_id: Uuid,
    nodes: z.array(
      z.object({
        node_id: Uuid,
        display_name: z.string(),
        display_kind: z.string(),
        mesh_address: z.string(),
        reachability: ReachabilityState,
        endpoint: z.string().describe('Empty while none is known or the last one is stale'),
      }),
    ),
    edges: z
      .array(z.object({ from: Uuid, to: Uuid, mode: EdgeMode, relay_node_id: Uuid.optional() }))
      .describe('Directed: how `from` reaches `to`; by `from`, then `to`'),
  })
  .meta({ id: 'MeshTopology' })

export const EdgeEpochsRequest = z
  .strictObject({
    node_ids: z
      .array(uuidField('invalid_body', 'Node'))
      .min(1)
      .max(1_000)
      .optional()
      .describe('Nodes whose reports to compare; all when absent, in a Domain of at most 1,000 nodes'),
  })
  .meta({ id: 'EdgeEpochsVerifyRequest' })

export const EdgeEpochsVerified = z
  .object({
    nodes_checked: z.int(),
    edges_checked: z.int().describe('Ends of edges: each node counts its own'),
    agreeing: z.int().describe('Nodes whose report equals what the server computes'),
    disagreeing: z.array(
      z.object({
        node_id: Uuid,
        reason: z.enum(['not_reported', 'malformed', 'count_differs', 'epochs_differ']),
        edges_expected: z.int(),
        edges_reported: z.int().nullable(),
      }),
    ),
  })
  .meta({ id: 'EdgeEpochsVerified' })

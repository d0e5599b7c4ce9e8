import { z } from 'zod'
import { InDomain, Instant, JsonValue, OfNode, ShownName, Uuid, uuidField } from './fields.ts'
import { BinaryVersion, Checksum, MeshCidr, PublicKey, ReachabilityState } from './node-schemas.ts'

/** An instant as a client sends it. */
export const SentInstant = z.iso.datetime({ offset: true })

/** An instant that is also in the years 1 to 9999 in UTC: others have no RFC 3339 text in UTC. */
const KeptInstant = SentInstant.refine(isInYears, { error: 'must be in the years 1 to 9999 of UTC' })

function isInYears(instant: string): boolean {
  const year = new Date(instant).getUTCFullYear()
  return year >= 1 && year <= 9_999
}

/** Candidates of one node. */
const CANDIDATES_MAX = 8

export const EndpointRequest = z
  .strictObject({
    endpoint: z
      .string()
      .describe(
        '`host:port` as seen from outside: an IPv4 address, or an IPv6 address in brackets; no loopback, no name',
      ),
    nat_type: z
      .enum(['cone', 'restricted', 'port_restricted', 'symmetric', 'unknown'])
      .describe(
        'Address translation in front of the node, as it observed it; `unknown`: the endpoint is a guess, which observations of peers replace',
      ),
    reported_at: SentInstant.describe('When the node observed it; within 60 s of the server'),
    candidates: z
      .array(z.string())
      .max(CANDIDATES_MAX)
      .refine((texts) => new Set(texts).size === texts.length, { error: 'names an address twice' })
      .optional()
      .describe(
        'Further addresses at which peers may reach the node, `host:port`, at most 8: local ones and IPv6; no link-local, none of the mesh. Absent: none',
      ),
  })
  .meta({ id: 'EndpointRequest', description: 'The public address of a node, as it observed it.' })

export const EndpointResponse = z
  .object({
    accepted_at: Instant.describe('When the report was accepted'),
    stale_after: Instant.describe('When it becomes stale without another report'),
  })
  .meta({ id: 'EndpointResponse', description: 'Until when a reported endpoint is fresh.' })

/** Maximum of hooks of a node. */
const HOOKS_MAX = 256

const Hook = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,127}$/, {
      error:
        'must begin with a lower-case letter or digit, then letters, digits, dots, hyphens, underscores; at most 128',
    })
    .describe('Name of the hook, as executions name it'),
  checksum: Checksum,
})

export const CapabilitiesRequest = z
  .strictObject({
    binary_version: BinaryVersion.describe('Version of the agent, at most 128 characters'),
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
  .meta({ id: 'NodeCapabilitiesRequest', description: 'What the agent of a node declares about itself.' })

export const CapabilitiesResponse = z
  .object({
    accepted_at: Instant.describe('When the report was accepted'),
    fields_changed: z.array(z.string()).describe('Members that differ from what was reported before, sorted'),
    host_key_changed: z.boolean().describe('Whether a known SSH host key has changed'),
  })
  .meta({ id: 'NodeCapabilitiesResponse', description: 'What a declaration changed.' })

/** Violations in one batch (decisions: Nodes). */
const VIOLATIONS_MAX = 256

const IntegrityViolationReport = z.strictObject({
  kind: z.enum(['binary', 'hook', 'host_key']).describe('What the violated checksum belongs to'),
  artifact: z.string().min(1).max(512).describe('The checked object: a path, or a hook’s name'),
  expected_checksum: Checksum.optional(),
  observed_checksum: Checksum.optional(),
  detected_at: KeptInstant.describe('When the node saw it, by its clock'),
})

export const IntegrityViolationsRequest = z
  .strictObject({
    violations: z
      .array(IntegrityViolationReport)
      .min(1)
      .max(VIOLATIONS_MAX)
      .meta({ problem: 'invalid_batch' })
      .describe('Violations, at most 256'),
  })
  .meta({
    id: 'NodeIntegrityViolationsRequest',
    description: 'Checksums that are not the expected ones, as a node observed them.',
  })

export const IntegrityViolationsResponse = z
  .object({
    accepted_at: Instant.describe('When the batch was accepted'),
    violation_count: z.int().describe('Number of violations in the batch'),
  })
  .meta({ id: 'NodeIntegrityViolationsResponse', description: 'The receipt of a batch of violations.' })

export const StateReportRequest = z
  .strictObject({ value: JsonValue.describe('Any JSON; at most 4,096 bytes in canonical form (RFC 8785)') })
  .meta({ id: 'NodeStateReportRequest', description: 'A value that a node reports.' })

export const StateReportResponse = z
  .object({
    key: z.string().describe('Key of the report'),
    accepted_at: Instant.describe('When the report was accepted'),
  })
  .meta({
    id: 'NodeStateReportResponse',
    description: 'The receipt of a report.',
  })

/** The half of an edge's epoch that belongs to one node. */
export const PskIssuedAt = z.string().meta({
  description: 'When the node’s preshared key was created: UTC, nine fractional digits, of fixed width',
  examples: ['2026-11-21T09:30:00.123000000Z'],
})

const Peer = z.object({
  node_id: OfNode,
  name: z.string().describe('Name of the peer, unique in the Domain'),
  public_key: z.string().describe('Curve25519, 32 bytes in padded base64'),
  mesh_address: z.string().describe('Address of the peer in the mesh'),
  endpoint: z.string().describe('`host:port`; empty while none is known or the last one is stale'),
  fallback_endpoint: z.string().optional().describe('`host:port` of the relay for the edge'),
  candidates: z
    .array(z.string())
    .optional()
    .describe('Further addresses of the peer, `host:port`, at most 8; absent while there is none'),
  psk_issued_at: PskIssuedAt,
  groups: z
    .array(z.int().positive())
    .describe('Policy groups that the peer is in, ascending: rules of policies name peers by them'),
  subnets: z
    .array(z.string())
    .optional()
    .describe(
      'Networks behind the peer, sorted: those of site-to-site tunnels and of user access that it hosts; absent without any',
    ),
})

const PulledExecution = z.object({
  execution_id: Uuid.describe('The execution'),
  action: z.string().describe('Name of the action to run'),
  type: z.enum(['builtin', 'hook']).describe('Whether the agent brings the action or the node has a hook for it'),
  parameters: z.record(z.string(), z.unknown()).optional().describe('Passed to the action unchanged'),
  status: z.enum(['pending', 'ack', 'started']).describe('How far the node is with it'),
  requested_at: Instant.describe('When it was requested'),
  expires_at: Instant.describe('When it times out unless it has ended'),
})

const PulledSession = z.object({
  session_id: Uuid.describe('The session'),
  jti: Uuid.describe('Equals the session id'),
  kind: z.enum(['ssh', 'cluster_api', 'tcp']).describe('Protocol of the session'),
  target: z.string().describe('What the session reaches'),
  expires_at: Instant.describe('When the session ends'),
  idle_timeout_seconds: z
    .int()
    .optional()
    .describe('Seconds without traffic after which the session ends; absent: no limit'),
})

const Self = z.object({
  name: z.string().describe('Name of the node, unique in the Domain'),
  mesh_address: z.string().describe('Address of the node in the mesh'),
  mesh_cidr: MeshCidr,
  psk_issued_at: PskIssuedAt,
})

export const NodeStateSnapshot = z
  .object({
    peers: z.array(Peer).describe('Every other node of the Domain, by node id'),
    policy: z
      .object({
        policies: z
          .array(
            z.object({
              policy_id: Uuid.describe('The policy'),
              revision_id: Uuid.describe('The revision in force'),
              fingerprint: z.string().describe('SHA-256 of the canonical rules in padded base64'),
              rules: z.array(z.unknown()).describe('Compiled rules, in canonical order'),
            }),
          )
          .describe('Policies that match the node'),
      })
      .describe('Rules that the node enforces'),
    bridge: z
      .object({
        resources: z
          .array(
            z.object({
              bridge_resource_id: Uuid.describe('The bridge'),
              effective_config: z.record(z.string(), z.unknown()).describe('Its whole configuration'),
            }),
          )
          .describe('One entry for each bridge'),
      })
      .describe('Bridges that the node hosts'),
    self: Self.describe('The node itself, as the server knows it'),
    'state/reports': z.record(z.string(), z.unknown()).describe('The node’s last report under each key'),
    executions: z.array(PulledExecution).describe('Those not ended, by `requested_at`, then id'),
    sessions: z.array(PulledSession).describe('Those live, by when they were issued, then id'),
  })
  .meta({ id: 'NodeStateSnapshot', description: 'Canonical JSON (RFC 8785): equal data is equal bytes' })

export const EdgeMode = z.enum(['direct', 'relayed'])

export const KeyRotation = z
  .object({
    rotation_id: Uuid.describe('The rotation'),
    node_id: OfNode,
    state: z.enum(['pending', 'completed']).describe('Whether the node still has to rotate'),
    requested_at: Instant.describe('When it was requested'),
    requested_by: z.string().describe('Subject, as `user:…` or `serviceaccount:…`'),
    completed_at: Instant.nullable().describe('When the node completed it; null while it is pending'),
  })
  .meta({ id: 'KeyRotation', description: 'The rotation of the mesh keys of a node.' })

export const KeyRotationPreview = z
  .object({
    node_id: OfNode,
    edges: z
      .array(
        z.object({
          peer_node_id: Uuid.describe('The peer at the other end of the edge'),
          mode: EdgeMode.describe('Whether packets go to the peer directly or through a relay'),
        }),
      )
      .describe('By peer id'),
    edge_count: z.int().describe('Number of edges that change'),
    estimated_duration_seconds: z.int().describe('Seconds that the rotation is expected to take'),
  })
  .meta({ id: 'KeyRotationPreview', description: 'The edges that a rotation of the keys of a node would change.' })

export const KeyRotationCompletionRequest = z
  .strictObject({ public_key: PublicKey })
  .meta({ id: 'KeyRotationCompletionRequest', description: 'The new public key of the node.' })

export const KeyRotationCompleted = z
  .object({
    rotation_id: Uuid.describe('The rotation'),
    node_id: OfNode,
    completed_at: Instant.describe('When it was completed'),
    psk_issued_at: PskIssuedAt,
  })
  .meta({ id: 'KeyRotationCompleted', description: 'What a completed rotation leaves.' })

const EdgePath = z
  .enum(['direct', 'relayed', 'none'])
  .meta({ id: 'EdgePath', description: 'How packets go over an edge; none: there is no session of the tunnel.' })

export const MeshTopology = z
  .object({
    domain_id: InDomain,
    nodes: z
      .array(
        z.object({
          node_id: OfNode,
          display_name: ShownName,
          display_kind: z.string().describe('What the node is, such as vm or bridge'),
          mesh_address: z.string().describe('Address of the node in the mesh'),
          reachability: ReachabilityState.describe('Whether the node reports in time'),
          endpoint: z.string().describe('Empty while none is known or the last one is stale'),
        }),
      )
      .describe('All nodes of the Domain'),
    edges: z
      .array(
        z.object({
          from: Uuid.describe('Node at this end'),
          to: Uuid.describe('Node at the other end'),
          mode: EdgeMode.describe('Whether packets go directly or through a relay'),
          relay_node_id: Uuid.optional().describe('Node that relays; absent for a direct edge'),
          path: EdgePath.nullable().describe(
            'How packets go by the last report of `from`; null where it has not reported it, or sends no heartbeats',
          ),
        }),
      )
      .describe('Directed: how `from` reaches `to`; by `from`, then `to`'),
  })
  .meta({ id: 'MeshTopology', description: 'The nodes of a Domain and the edges between them.' })

export const EdgeEpochsRequest = z
  .strictObject({
    node_ids: z
      .array(uuidField('invalid_body', 'Node'))
      .min(1)
      .max(1_000)
      .optional()
      .describe('Nodes whose reports to compare; all when absent, in a Domain of at most 1,000 nodes'),
  })
  .meta({ id: 'EdgeEpochsVerifyRequest', description: 'Which nodes to compare.' })

export const EdgeEpochsVerified = z
  .object({
    nodes_checked: z.int().describe('Number of nodes whose report was compared'),
    edges_checked: z.int().describe('Ends of edges: each node counts its own'),
    agreeing: z.int().describe('Nodes whose report equals what the server computes'),
    disagreeing: z
      .array(
        z.object({
          node_id: OfNode,
          reason: z
            .enum(['not_reported', 'malformed', 'count_differs', 'epochs_differ'])
            .describe('How the report differs'),
          edges_expected: z.int().describe('Number of edges that the server computes'),
          edges_reported: z.int().nullable().describe('Number of edges in the report; null without a readable one'),
        }),
      )
      .describe('Nodes whose report differs from what the server computes'),
  })
  .meta({
    id: 'EdgeEpochsVerified',
    description: 'How the reports of nodes about their edges compare with what the server computes.',
  })

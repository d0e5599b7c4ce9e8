import { z } from 'zod'
import { WIRE_TYPES } from '../events/wire-types.ts'
import { Instant, Uuid } from './fields.ts'

const GroupNumber = z.int().min(1)

const PeerChange = z
  .object({
    node_id: Uuid.describe('The peer'),
    changes: z
      .array(z.string())
      .describe(
        'What happened to the peer, in order, each once: registered, deregistered, psk_assigned, key_rotated, endpoint_changed, groups_changed',
      ),
    endpoint: z.string().optional().describe('New address of the peer, `host:port`; empty when it is stale'),
    fallback_endpoint: z.string().optional().describe('New address of the relay of the peer, `host:port`'),
    public_key: z.string().optional().describe('New public key: 32 bytes in padded base64'),
    mesh_address: z.string().optional().describe('Address of the peer in the mesh'),
    psk_issued_at: z
      .string()
      .optional()
      .describe('When the preshared key was issued: RFC 3339 in UTC with nine fractional digits'),
    groups: z.array(GroupNumber).optional().describe('All policy groups of the peer, ascending'),
  })
  .meta({ id: 'EventPeerChange', description: 'A change of one peer. Members that did not change are absent.' })

const GroupChange = z
  .object({
    group: GroupNumber.describe('Number of the policy group'),
    added: z.array(Uuid).describe('Nodes that joined the group, ascending'),
    removed: z.array(Uuid).describe('Nodes that left the group, ascending'),
  })
  .meta({ id: 'EventGroupChange', description: 'Nodes that one policy group has gained and lost.' })

const NodeStateUpdated = z
  .object({
    reason: z
      .enum(['changed', 'resync'])
      .describe('`resync`: more changed than the event carries, so the node pulls its state'),
    blocks: z
      .array(z.string())
      .describe('Changed parts of the state, sorted: peers, keys, policy, bridge, executions, sessions'),
    peers: z.array(PeerChange).describe('Changed peers by `node_id`, at most 64; empty with `resync`'),
    groups: z.array(GroupChange).optional().describe('Changed policy groups by `group`, to apply after `peers`'),
  })
  .meta({ id: 'NodeStateUpdatedPayload', description: 'Parts of the state of the node changed.' })

const PolicyUpdated = z
  .object({
    node_id: Uuid.describe('The node of the stream'),
    policy_id: Uuid.describe('The policy'),
    revision_id: Uuid.describe('The revision that is in force; after a deletion the last one'),
    fingerprint: z.string().describe('SHA-256 of the canonical rules in padded base64'),
    rules: z.array(z.unknown()).describe('Compiled rules in canonical order; empty after a deletion'),
  })
  .meta({ id: 'PolicyUpdatedPayload', description: 'The rules that a policy has for the node changed.' })

const BridgeConfigUpdated = z
  .object({
    node_id: Uuid.describe('The node of the stream'),
    bridge_resource_id: Uuid.describe('The bridge that the node hosts'),
    effective_config: z
      .record(z.string(), z.unknown())
      .describe('Whole configuration of the bridge; empty once the node no longer hosts it'),
  })
  .meta({ id: 'BridgeConfigUpdatedPayload', description: 'The configuration of a bridge that the node hosts changed.' })

const ActionRequest = z
  .object({
    execution_id: Uuid.describe('The execution, for the callback'),
    action: z.string().describe('Name of the action to run'),
    type: z.enum(['builtin', 'hook']).describe('Whether the agent brings the action or the node has a hook for it'),
    parameters: z.record(z.string(), z.unknown()).optional().describe('Parameters of the action'),
    status: z.literal('pending').describe('The execution waits for the node'),
    requested_at: Instant.describe('When the execution was requested'),
    expires_at: Instant.describe('When the execution expires unless the node takes it'),
  })
  .meta({ id: 'ActionRequestPayload', description: 'An execution waits for the node.' })

const SessionSetup = z
  .object({
    session_id: Uuid.describe('The mediated session'),
    jti: Uuid.describe('The `jti` claim of its token; equals `session_id`'),
    kind: z.enum(['ssh', 'cluster_api', 'tcp']).describe('Protocol of the session'),
    target: z.string().describe('What the session reaches, `host:port`'),
    expires_at: Instant.describe('When the session ends'),
    idle_timeout_seconds: z.int().optional().describe('Seconds without traffic after which the session ends'),
  })
  .meta({ id: 'SessionSetupPayload', description: 'A mediated session to the node begins.' })

/** The data of a frame of the event stream. A later server may send other types, so that neither type nor payload is closed. */
export const EventEnvelope = z
  .object({
    api_version: z.literal('v1').describe('Major version of the envelope'),
    domain_id: Uuid.describe('Domain of the node'),
    event_id: Uuid.describe('The event; the same wherever it is sent again'),
    kid: z.string().describe('The signing key, as `GET /v1/signing-keys` lists it'),
    node_id: Uuid.describe('The node that the event is for'),
    node_seq: z
      .int()
      .min(0)
      .describe('Number of the event among those of the node, rising by one: a missing number is a missed event'),
    occurred_at: Instant.describe('When it happened'),
    payload: z
      .union([NodeStateUpdated, PolicyUpdated, BridgeConfigUpdated, ActionRequest, SessionSetup, z.looseObject({})])
      .describe('What happened, in the shape of `type`; the object without known members is that of a later type'),
    type: z
      .union([z.enum(WIRE_TYPES), z.string()])
      .describe('Type of the event; one that a client does not know means that anything may have changed'),
    signature: z
      .string()
      .describe('Ed25519 signature, base64url, of the canonical JSON (RFC 8785) of the other members'),
  })
  .meta({
    id: 'EventEnvelope',
    description: 'A signed event, as the `data` of a frame carries it. Members are in canonical order.',
  })

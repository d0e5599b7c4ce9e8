import { isNonZeroUuid } from '../ids.ts'
import { isPskIssuedAt } from '../mesh/psk-instant.ts'
import { isGroup } from '../policies/rule-types.ts'
import {
  anyObject,
  anything,
  constant,
  described,
  integer,
  listOf,
  object,
  oneOf,
  openWord,
  optional,
  text,
  textThat,
  type Shape,
} from '../shapes.ts'
import {
  PEER_CHANGES,
  PEERS_INLINE_MAX,
  SESSION_KINDS,
  STATE_BLOCKS,
  type GroupChange,
  type Payloads,
  type PeerChange,
  type WireType,
} from './wire-types.ts'

const UUID =
  '^(?!0{8}-0{4}-0{4}-0{4}-0{12}$)[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'
const PSK_INSTANT = '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{9}Z$'

/** Where a wrong id would be acted on without a pull. */
const uuid = textThat(isNonZeroUuid, { format: 'uuid', pattern: UUID })
/** Where a pull shows the object of the id anyway. */
const id = text({ format: 'uuid' })
const instant = text({ format: 'date-time' })
const pskInstant = textThat(isPskIssuedAt, { format: 'date-time', pattern: PSK_INSTANT })
const group: Shape<number> = { ...integer({ minimum: 1 }), fits: isGroup }

/** Entries of lists such as blocks and changes may be unknown: a later server may have more. */
const peerChange = object<PeerChange>(
  {
    node_id: described(uuid, 'The peer'),
    changes: described(listOf(openWord(PEER_CHANGES)), 'What happened to the peer, in order, each once'),
    name: optional(text({ description: 'Name of the peer, unique in the Domain' })),
    endpoint: optional(text({ description: 'New address of the peer, `host:port`; empty when it is stale' })),
    fallback_endpoint: optional(text({ description: 'New address of the relay of the peer, `host:port`' })),
    candidates: optional(
      described(listOf(text({})), 'Further addresses of the peer, `host:port`; none where absent beside an endpoint'),
    ),
    public_key: optional(text({ description: 'New public key: 32 bytes in padded base64' })),
    mesh_address: optional(text({ description: 'Address of the peer in the mesh' })),
    psk_issued_at: optional(
      described(pskInstant, 'When the preshared key was issued: RFC 3339 in UTC with nine fractional digits'),
    ),
    groups: optional(described(listOf(group), 'All policy groups of the peer, ascending')),
    subnets: optional(described(listOf(text({})), 'All networks behind the peer, sorted')),
  },
  'A change of one peer. Members that did not change are absent.',
)

const groupChange = object<GroupChange>(
  {
    group: described(group, 'Number of the policy group'),
    added: described(listOf(uuid), 'Nodes that joined the group, ascending'),
    removed: described(listOf(uuid), 'Nodes that left the group, ascending'),
  },
  'Nodes that one policy group has gained and lost.',
)

/** The payload of each event type. */
export const PAYLOAD_SHAPES: { readonly [Type in WireType]: Shape<Payloads[Type]> } = {
  node_state_updated: object<Payloads['node_state_updated']>(
    {
      reason: described(
        oneOf(['changed', 'resync']),
        '`resync`: more changed than the event carries, so the node pulls its state',
      ),
      blocks: described(listOf(openWord(STATE_BLOCKS)), 'Changed parts of the state, sorted'),
      peers: described(
        listOf(peerChange),
        `Changed peers by \`node_id\`, at most ${PEERS_INLINE_MAX}; empty with \`resync\``,
      ),
      groups: optional(described(listOf(groupChange), 'Changed policy groups by `group`, to apply after `peers`')),
    },
    'Parts of the state of the node changed.',
  ),
  policy_updated: object<Payloads['policy_updated']>(
    {
      node_id: described(id, 'The node of the stream'),
      policy_id: described(id, 'The policy'),
      revision_id: described(id, 'The revision that is in force; after a deletion the last one'),
      fingerprint: text({ description: 'SHA-256 of the canonical rules in padded base64' }),
      rules: described(listOf(anything), 'Compiled rules in canonical order; empty after a deletion'),
    },
    'The rules that a policy has for the node changed.',
  ),
  bridge_config_updated: object<Payloads['bridge_config_updated']>(
    {
      node_id: described(id, 'The node of the stream'),
      bridge_resource_id: described(id, 'The bridge that the node hosts'),
      effective_config: described(
        anyObject,
        'Whole configuration of the bridge; empty once the node no longer hosts it',
      ),
    },
    'The configuration of a bridge that the node hosts changed.',
  ),
  action_request: object<Payloads['action_request']>(
    {
      execution_id: described(id, 'The execution, for the callback'),
      action: text({ description: 'Name of the action to run' }),
      type: described(oneOf(['builtin', 'hook']), 'Whether the agent brings the action or the node has a hook for it'),
      parameters: optional(described(anyObject, 'Parameters of the action')),
      status: constant('pending', 'The execution waits for the node'),
      requested_at: described(instant, 'When the execution was requested'),
      expires_at: described(instant, 'When the execution expires unless the node takes it'),
    },
    'An execution waits for the node.',
  ),
  session_setup: object<Payloads['session_setup']>(
    {
      session_id: described(id, 'The mediated session'),
      jti: described(id, 'The `jti` claim of its token; equals `session_id`'),
      kind: described(oneOf(SESSION_KINDS), 'Protocol of the session'),
      target: text({ description: 'What the session reaches, `host:port`' }),
      expires_at: described(instant, 'When the session ends'),
      idle_timeout_seconds: optional(described(integer(), 'Seconds without traffic after which the session ends')),
    },
    'A mediated session to the node begins: it admits holders of the token of this session.',
  ),
}

import { isNonZeroUuid } from '../ids.ts'
import { isPskIssuedAt } from '../mesh/psk-instant.ts'
import { isGroup } from '../policies/rule-types.ts'
import {
  anyObject,
  anything,
  constant,
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
const peerChange = object<PeerChange>({
  node_id: uuid,
  changes: listOf(openWord(PEER_CHANGES)),
  endpoint: optional(text({ description: '`host:port`; empty while none is known or the last one is stale' })),
  fallback_endpoint: optional(text({ description: '`host:port` of the relay' })),
  public_key: optional(text({ description: '32 bytes in padded base64' })),
  mesh_address: optional(text()),
  psk_issued_at: optional(pskInstant),
  groups: optional(listOf(group)),
})

const groupChange = object<GroupChange>({ group, added: listOf(uuid), removed: listOf(uuid) })

/** The payload of each event type. */
export const PAYLOAD_SHAPES: { readonly [Type in WireType]: Shape<Payloads[Type]> } = {
  node_state_updated: object<Payloads['node_state_updated']>(
    {
      reason: oneOf(['changed', 'resync']),
      blocks: listOf(openWord(STATE_BLOCKS)),
      peers: listOf(peerChange),
      groups: optional(listOf(groupChange)),
    },
    `Parts of the node's state changed. \`resync\`: more changed than is listed, so pull the state. At most ${PEERS_INLINE_MAX} peers are listed.`,
  ),
  policy_updated: object<Payloads['policy_updated']>(
    {
      node_id: id,
      policy_id: id,
      revision_id: id,
      fingerprint: text({ description: 'SHA-256 of the canonical rules in padded base64' }),
      rules: listOf(anything),
    },
    'A policy of the node has these rules now; none means that it is gone.',
  ),
  bridge_config_updated: object<Payloads['bridge_config_updated']>(
    { node_id: id, bridge_resource_id: id, effective_config: anyObject },
    'A bridge of the node has this configuration now; an empty one means that it is gone.',
  ),
  action_request: object<Payloads['action_request']>(
    {
      execution_id: id,
      action: text(),
      type: oneOf(['builtin', 'hook']),
      parameters: optional(anyObject),
      status: constant('pending'),
      requested_at: instant,
      expires_at: instant,
    },
    'An execution waits for the node.',
  ),
  session_setup: object<Payloads['session_setup']>(
    {
      session_id: id,
      jti: id,
      kind: oneOf(SESSION_KINDS),
      target: text(),
      expires_at: instant,
      idle_timeout_seconds: optional(integer()),
    },
    'The node admits holders of the token of this session.',
  ),
}

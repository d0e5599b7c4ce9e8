import { NSK } from '../credential-formats.ts'
import { ENVELOPE, SIGNATURE } from '../events/envelope-shape.ts'
import { SESSION_TOKEN_CLAIMS, SESSION_TOKEN_HEADER } from '../events/session-token-shape.ts'
import { WIRE_TYPES } from '../events/wire-types.ts'
import { EDGE_KEY_BYTES } from '../mesh/edge-key.ts'
import { ENVELOPE_BYTES, envelopeAad } from '../mesh/edge-envelope.ts'
import { formatEdgeEpoch } from '../mesh/edge-epoch.ts'
import { createEpochDigest, EDGE_EPOCHS_KEY } from '../mesh/epoch-digest.ts'
import { NONCE_BYTES, TAG_BYTES } from '../mesh/nsk-envelope.ts'
import { SECRET_OVERHEAD_BYTES, secretAad } from '../mesh/secret-envelope.ts'
import type { JsonSchema } from './json-schema.ts'

/** A format that nodes read and that the OpenAPI document does not show. */
export interface NodeFormat {
  readonly summary: string
  /** The operation that delivers it, or that receives it. */
  readonly operation: `${'GET' | 'POST' | 'PUT'} /v1/${string}`
  readonly schema: JsonSchema
}

const EPOCH = formatEdgeEpoch({ own: '{own psk_issued_at}', peer: '{peer psk_issued_at}' })

/** The formats by name. Bytes are described by constants that the code which writes them gives. */
export const NODE_FORMATS: Readonly<Record<string, NodeFormat>> = {
  event_frame: {
    summary: 'A frame of the event stream: fields of server-sent events',
    operation: 'GET /v1/nodes/{id}/events',
    schema: {
      type: 'object',
      properties: {
        id: { type: 'string', pattern: '^\\d{1,20}$', description: 'Position; the value of `Last-Event-ID`' },
        event: { anyOf: [{ type: 'string', enum: [...WIRE_TYPES] }, { type: 'string' }] },
        data: { type: 'string', description: 'The format `signed_event` in canonical JSON (RFC 8785), on one line' },
      },
      required: ['id', 'event', 'data'],
    },
  },
  signed_event: {
    summary: 'An event as it is signed, and the signature as its last member',
    operation: 'GET /v1/nodes/{id}/events',
    schema: {
      ...ENVELOPE.schema,
      properties: {
        ...ENVELOPE.schema.properties,
        signature: {
          type: 'string',
          pattern: `^${SIGNATURE}$`,
          description: 'Ed25519 over the canonical JSON (RFC 8785) of the other members, in base64url',
        },
      },
      required: [...(ENVELOPE.schema.required ?? []), 'signature'],
    },
  },
  node_secret_key: {
    summary: 'The credential of a node, which also opens envelopes',
    operation: 'POST /v1/nodes/register',
    schema: constants(
      {
        layout: 'nsk_{env}_{node id as 32 hex digits}_{kid of 8}_{32 bytes in base64url}',
        text: NSK.source,
      },
      'Cut from the end, by length',
    ),
  },
  edge_key_envelope: {
    summary: 'The key of an edge, sealed under the 32 key bytes of the node secret key',
    operation: 'GET /v1/nodes/{id}/peers/{peer_node_id}/psk',
    schema: constants({
      cipher: 'AES-256-GCM',
      layout: `nonce (${NONCE_BYTES}) | ciphertext (${EDGE_KEY_BYTES}) | tag (${TAG_BYTES})`,
      bytes: ENVELOPE_BYTES,
      associated_data: decoded(envelopeAad({ nodeId: '{node_id}', peerNodeId: '{peer_node_id}', epoch: EPOCH })),
    }),
  },
  node_secret_envelope: {
    summary: 'A secret, sealed under the 32 key bytes of the node secret key',
    operation: 'GET /v1/nodes/{id}/secrets',
    schema: constants({
      cipher: 'AES-256-GCM',
      layout: `nonce (${NONCE_BYTES}) | ciphertext | tag (${TAG_BYTES})`,
      overhead_bytes: SECRET_OVERHEAD_BYTES,
      associated_data: decoded(secretAad({ nodeId: '{node_id}', ref: '{ref}', version: 1 })).replace(/1$/, '{version}'),
    }),
  },
  edge_epoch: {
    summary: 'Which keys the key of an edge was made of, as `X-Service-PSK-Epoch` names them',
    operation: 'GET /v1/nodes/{id}/peers/{peer_node_id}/psk',
    schema: constants({ layout: EPOCH }, 'Instants of fixed width: texts compare as instants do'),
  },
  edge_epoch_digest: {
    summary: 'What a node reports of the epochs that it uses',
    operation: 'PUT /v1/nodes/{id}/state/reports/{key}',
    schema: constants({ key: EDGE_EPOCHS_KEY, hash: 'SHA-256', line: digestedLine() }, 'Lines by peer id'),
  },
  session_token_header: {
    summary: 'The header of the token of a mediated session, a JWT (RFC 7519)',
    operation: 'POST /v1/projects/{project_id}/sessions',
    schema: SESSION_TOKEN_HEADER.schema,
  },
  session_token_claims: {
    summary: 'The claims of the token of a mediated session',
    operation: 'POST /v1/projects/{project_id}/sessions',
    schema: SESSION_TOKEN_CLAIMS.schema,
  },
}

/** Values that never change within a major version: another one is a finding of the gate. */
function constants(values: Readonly<Record<string, string | number>>, description?: string): JsonSchema {
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    properties: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { const: value }])),
    required: Object.keys(values),
  }
}

function decoded(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

function digestedLine(): string {
  let line = ''
  createEpochDigest({ update: (text) => void (line += text), hex: () => '' }).add('{peer_node_id}', EPOCH)
  return line
}

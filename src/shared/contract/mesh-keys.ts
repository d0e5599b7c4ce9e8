import { z } from 'zod'
import { KiB, Uuid, uuidField } from './fields.ts'
import { KeyRotation, KeyRotationCompleted, KeyRotationCompletionRequest, KeyRotationPreview } from './mesh-schemas.ts'
import { check, defineSurface, open, OPERATOR } from './operation.ts'

const params = z.strictObject({ id: uuidField('invalid_node_id', 'Node') })

/** Edges whose keys one call fetches. */
const EDGES_MAX = 256

const NodePeerPSKsRequest = z
  .strictObject({
    peer_node_ids: z
      .array(uuidField('invalid_body', 'The node at the other end'))
      .min(1)
      .max(EDGES_MAX)
      .refine((ids) => new Set(ids).size === ids.length, { error: 'names a peer twice' })
      .describe('Peers whose edges with the node are asked for, at most 256'),
  })
  .meta({ id: 'NodePeerPSKsRequest', description: 'Edges whose preshared keys a node fetches in one call.' })

const NodePeerPSKs = z
  .object({
    kid: z.string().describe('Id of the node secret key that all envelopes are sealed under'),
    envelopes: z
      .array(
        z.object({
          peer_node_id: Uuid.describe('The node at the other end'),
          epoch: z
            .string()
            .describe('Epoch of the edge: `<own key’s instant>|<peer’s>`; an agent refuses one that is older'),
          envelope: z.string().describe('The envelope: 60 bytes in padded base64'),
        }),
      )
      .describe('In the order of the request; without those nodes that are no peers of the caller'),
  })
  .meta({ id: 'NodePeerPSKs', description: 'The preshared keys of edges, each sealed for the calling node.' })

const columns = ['rotation_id', 'node_id', 'state', 'requested_at', 'requested_by', 'completed_at']

export const meshKeys = defineSurface('keys', 'Keys of the mesh and their rotation', {
  GetNodePeerPSK: {
    method: 'GET',
    path: '/v1/nodes/{id}/peers/{peer_node_id}/psk',
    summary: 'Fetch the preshared key of an edge',
    description:
      'Sixty bytes: a nonce of twelve, then the key and a tag, sealed with AES-256-GCM under the node’s secret key.',
    credentials: ['nsk'],
    unauthenticated: 'unauthorized',
    params: z.strictObject({
      id: uuidField('invalid_node_id', 'Node'),
      peer_node_id: uuidField('invalid_node_id', 'The node at the other end'),
    }),
    gate: {
      ...open('S0 Authentication 4: a node speaks for itself'),
      ownNode: { param: 'id', mismatch: 'node_id_mismatch' },
    },
    audit: { relation: 'fetch_edge_psk', when: 'all', object: 'node:{path.id}' },
    responses: { 200: { media: 'application/octet-stream', describe: 'The envelope, 60 bytes' } },
    sealsToSecret: true,
    headers: {
      'X-Service-PSK-KID': 'Id of the node secret key that it is sealed under',
      'X-Service-PSK-Epoch': 'Epoch of the edge: `<own key’s instant>|<peer’s>`; an agent refuses one that is older',
    },
    noStore: true,
    problems: ['same_peer', 'peer_not_found'],
    notProvisioned: 'edge_psk_not_provisioned',
  },
  PostNodePeerPSKs: {
    method: 'POST',
    path: '/v1/nodes/{id}/peers/psk',
    summary: 'Fetch the preshared keys of several edges',
    description:
      'Each envelope is what a fetch of that edge alone gives. Nodes that are no peers of the caller are left out. Nothing is changed.',
    credentials: ['nsk'],
    unauthenticated: 'unauthorized',
    params,
    body: NodePeerPSKsRequest,
    bodyBytesMax: 16 * KiB,
    idempotent: true,
    gate: {
      ...open('S0 Authentication 4: a node speaks for itself'),
      ownNode: { param: 'id', mismatch: 'node_id_mismatch' },
    },
    audit: { relation: 'node_edge_psks.fetch', when: 'all', object: 'node:{path.id}' },
    responses: { 200: NodePeerPSKs },
    sealsToSecret: true,
    noStore: true,
    problems: ['same_peer'],
    notProvisioned: 'edge_psk_not_provisioned',
  },
  PostNodeKeysRotate: {
    method: 'POST',
    path: '/v1/nodes/{id}/keys/rotate',
    summary: 'Ask a node to rotate its keys',
    description: 'Answers 202, or 200 with the pending rotation if there is one.',
    credentials: OPERATOR,
    params,
    idempotent: true,
    gate: check('node-operate', 'node:{path.id}'),
    audit: { relation: 'node_keys.rotate', when: 'all' },
    responses: { 202: KeyRotation, 200: KeyRotation },
    problems: ['node_not_found'],
    notProvisioned: 'node_keys_rotate_not_provisioned',
    cli: { command: 'nodes rotate', args: ['id'], refs: { id: 'nodes' }, columns },
  },
  GetNodeKeysRotation: {
    method: 'GET',
    path: '/v1/nodes/{id}/keys/rotate',
    summary: 'Show the latest key rotation of a node',
    description: 'Pending until the node has sent its new public key.',
    credentials: OPERATOR,
    params,
    gate: check('node-operate', 'node:{path.id}'),
    audit: { relation: 'node_keys.rotation.read', when: 'all' },
    responses: { 200: KeyRotation },
    problems: ['node_not_found', 'rotation_not_found'],
    notProvisioned: 'node_keys_rotate_not_provisioned',
    cli: { command: 'nodes rotate status', args: ['id'], refs: { id: 'nodes' }, columns },
  },
  GetNodeKeysRotatePreview: {
    method: 'GET',
    path: '/v1/nodes/{id}/keys/rotate/preview',
    summary: 'Show which edges a key rotation would change',
    description: 'Nothing is changed.',
    credentials: OPERATOR,
    params,
    gate: check('node-operate', 'node:{path.id}'),
    audit: { relation: 'node_keys.rotate.preview', when: 'all' },
    responses: { 200: KeyRotationPreview },
    problems: ['node_not_found'],
    notProvisioned: 'node_keys_rotate_preview_not_provisioned',
    cli: {
      command: 'nodes rotate preview',
      args: ['id'],
      refs: { id: 'nodes' },
      rows: 'edges',
      columns: ['peer_node_id', 'mode'],
    },
  },
  PostKeysRotate: {
    method: 'POST',
    path: '/v1/keys/rotate',
    summary: 'Complete a pending key rotation of the calling node',
    description: 'The node sends a fresh public key; its preshared key is replaced with it.',
    credentials: ['nsk'],
    unauthenticated: 'unauthorized',
    body: KeyRotationCompletionRequest,
    bodyBytesMax: 4 * KiB,
    gate: open('S0 Authentication 5: the node is the one whose key calls'),
    audit: { relation: 'node_keys.rotation.complete', when: 'all', object: 'node:{caller.id}' },
    responses: { 200: KeyRotationCompleted },
    problems: ['invalid_public_key', 'no_pending_rotation', 'public_key_in_use'],
    notProvisioned: 'keys_rotate_not_provisioned',
  },
})

import { z } from 'zod'
import { uuidField } from './fields.ts'
import { NodeStateSnapshot } from './mesh-schemas.ts'
import { check, defineSurface, OPERATOR } from './operation.ts'

export const nodeState = defineSurface('node-state', 'What a node is to do', {
  GetNodeState: {
    method: 'GET',
    path: '/v1/nodes/{id}/state',
    summary: 'Pull the desired state of a node',
    description:
      'The whole state: peers, policies, bridges, the node itself and its own reports, and pending executions and sessions. When an event arrives, pull it again.',
    credentials: [...OPERATOR, 'nsk'],
    unauthenticated: 'unauthorized',
    params: z.strictObject({ id: uuidField('invalid_node_id', 'Node') }),
    gate: { ...check('node-agent', 'node:{path.id}'), ownNode: { param: 'id', mismatch: 'node_id_mismatch' } },
    audit: { relation: 'node_state.read', when: 'denials', object: 'node:{path.id}' },
    requestHeaders: { 'If-None-Match': 'The `ETag` of a pull before; answered with 304 where nothing has changed' },
    responses: { 200: NodeStateSnapshot, 304: null },
    rendered: true,
    bridgesOutages: 'state',
    headers: {
      ETag: 'Names the state; equal on every replica',
      'Cache-Control': '`no-cache`',
    },
    problems: ['node_not_found', 'datastore_unavailable'],
    notProvisioned: 'signed_event_bus_not_provisioned',
    cli: { command: 'nodes state', args: ['id'], refs: { id: 'nodes' } },
  },
})

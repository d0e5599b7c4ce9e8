import { z } from 'zod'
import { KiB, uuidField } from './fields.ts'
import { EdgeEpochsRequest, EdgeEpochsVerified, MeshTopology } from './mesh-schemas.ts'
import { check, defineSurface, OPERATOR } from './operation.ts'

const params = z.strictObject({ domain_id: uuidField('invalid_domain_id', 'Domain') })

export const mesh = defineSurface('mesh', 'The mesh of a Domain as a whole', {
  GetDomainMeshTopology: {
    method: 'GET',
    path: '/v1/domains/{domain_id}/mesh/topology',
    summary: 'Show how the nodes of a Domain reach each other',
    description: 'A Domain of more than 300 nodes is shown one node at a time.',
    credentials: OPERATOR,
    params,
    query: z.strictObject({ node_id: uuidField('invalid_node_id', 'Only the edges of this node').optional() }),
    gate: check('domain-view', 'domain:{path.domain_id}'),
    audit: { relation: 'mesh_topology.read', when: 'all' },
    responses: { 200: MeshTopology },
    problems: ['domain_not_found', 'node_not_found', 'topology_filter_required'],
    notProvisioned: 'mesh_topology_not_provisioned',
    cli: {
      command: 'nodes topology',
      refs: { domain_id: 'domains', node_id: 'nodes' },
    },
  },
  VerifyDomainEdgeEpochs: {
    method: 'POST',
    path: '/v1/domains/{domain_id}/mesh/edge-epochs/verify',
    summary: 'Compare the epochs that nodes report with the keys that the server holds',
    description:
      'An epoch is the version of an edge key; each rotation makes a newer one. Each agent reports a digest of the epochs of its edges under the key `mesh.edge-epochs`, and the server computes the same from its keys.',
    credentials: OPERATOR,
    params,
    body: EdgeEpochsRequest,
    bodyBytesMax: 64 * KiB,
    access: 'read',
    idempotent: true,
    gate: check('domain-view', 'domain:{path.domain_id}'),
    audit: { relation: 'mesh_edge_epochs.verify', when: 'all' },
    responses: { 200: EdgeEpochsVerified },
    problems: ['domain_not_found', 'node_not_found', 'epoch_filter_required'],
    notProvisioned: 'mesh_topology_not_provisioned',
    cli: {
      command: 'nodes verify-epochs',
      refs: { domain_id: 'domains', node_ids: 'nodes' },
      rows: 'disagreeing',
      rowsAreNegative: true,
      columns: ['node_id', 'reason', 'edges_expected', 'edges_reported'],
      done: '{agreeing} of {nodes_checked} nodes agree with the server; compared: {edges_checked} ends of edges.',
    },
  },
})

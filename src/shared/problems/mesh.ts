import { invalid, row } from './row.ts'

/** Problems of the mesh and its keys. */
export const MESH_PROBLEMS = {
  same_peer: invalid('Same node', 'An edge has two ends: the peer must be another node.'),
  peer_not_found: row(404, 'Peer not found', 'The Domain has no such node.'),
  rotation_not_found: row(404, 'Rotation not found', 'No key rotation of the node was ever requested.'),
  no_pending_rotation: row(409, 'No pending rotation', 'No key rotation of the node waits to be completed.'),
  edge_psk_not_provisioned: row(501, 'Not provisioned', 'This server does not hand out keys of edges.'),
  node_keys_rotate_not_provisioned: row(501, 'Not provisioned', 'This server does not rotate keys.'),
  node_keys_rotate_preview_not_provisioned: row(501, 'Not provisioned', 'This server does not preview rotations.'),
  keys_rotate_not_provisioned: row(501, 'Not provisioned', 'This server does not complete key rotations.'),
  topology_filter_required: invalid(
    'One node only',
    'The Domain has more than 300 nodes; name the node whose edges to show.',
  ),
  epoch_filter_required: invalid('Name the nodes', 'The Domain has more than 1000 nodes; name those to compare.'),
  mesh_topology_not_provisioned: row(501, 'Not provisioned', 'This server does not show the mesh.'),
} as const

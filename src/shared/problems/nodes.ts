import { invalid, limited, row } from './row.ts'

/** Problems of nodes, their enrolment, heartbeats and event streams. */
export const NODES_PROBLEMS = {
  invalid_node_id: invalid('Invalid node id', 'The node id must be a UUID other than zero.'),
  invalid_domain_filter: invalid('Invalid Domain filter', 'The Domain filter must be a UUID other than zero.'),
  invalid_reachability: invalid('Invalid reachability', 'The reachability filter is not one of the documented states.'),
  invalid_reachability_filter: invalid(
    'Invalid filter',
    'The period must be instants in RFC 3339, with since before until and until in the last 7 days.',
  ),
  invalid_public_key: invalid(
    'Invalid public key',
    'The public key is not a usable Curve25519 key of 32 bytes in base64.',
  ),
  invalid_checksum: invalid('Invalid checksum', 'The checksum must be a SHA-256 as 64 hex digits or padded base64.'),
  clock_skew: invalid('Clock skew', 'The client clock differs from the server clock by more than 60 seconds.'),
  node_id_mismatch: row(403, 'Credential of another node', 'The node credential belongs to another node.'),
  nsk_revoked: row(401, 'Node key revoked', 'The node secret key is revoked; enrol the node again.'),
  nsk_not_active: row(409, 'Node key not active', 'The node has no working secret key; enrol it with a join token.'),
  node_not_found: row(404, 'Node not found', 'No such node exists.'),
  node_name_conflict: row(409, 'Node name taken', 'Another node of the Domain has this name.'),
  public_key_in_use: row(409, 'Public key in use', 'Another node of the Domain uses this public key.'),
  mesh_addresses_exhausted: row(409, 'Mesh addresses exhausted', 'The Domain has no free mesh address left.'),
  invalid_last_event_id: invalid(
    'Invalid Last-Event-ID',
    'Last-Event-ID must be the number of an event of this stream.',
  ),
  session_limit_exceeded: limited(
    'Too many streams',
    'The node has as many open streams as are allowed; close one first.',
  ),
  signed_event_bus_not_provisioned: row(501, 'Not provisioned', 'This server has no event stream configured.'),
  nodes_not_provisioned: row(501, 'Not provisioned', 'This server has no node store configured.'),
  heartbeat_not_provisioned: row(501, 'Not provisioned', 'This server does not take heartbeats.'),
  reachability_not_provisioned: row(501, 'Not provisioned', 'This server does not track reachability.'),
  per_node_rate_limited: limited(
    'Too many requests',
    'This node exceeds its request rate; retry after the time in Retry-After.',
  ),
  per_domain_rate_limited: limited(
    'Too many requests',
    'This Domain exceeds its request rate; retry after the time in Retry-After.',
  ),
  invalid_join_token: row(
    401,
    'Invalid join token',
    'The join token is unknown, expired, revoked or not for this use.',
  ),
  join_token_exhausted: row(409, 'Join token exhausted', 'The join token has been used as often as it allows.'),
  invalid_join_token_id: invalid('Invalid join token id', 'The join token id must be a UUID other than zero.'),
  join_token_not_found: row(404, 'Join token not found', 'No such join token exists in this Domain.'),
} as const

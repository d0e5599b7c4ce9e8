import { invalid, row } from './row.ts'

/** What a claim of a bridge collides with: `relay`, `user-access/<slug>`, `ingress/<slug>` or `site-to-site/<slug>`. */
interface Collision {
  readonly conflicts_with: string
}

/** Problems of bridges (S1 Errors, Bridge). */
export const BRIDGES_PROBLEMS = {
  invalid_slug: invalid('Invalid slug', 'A slug is lower-case letters, digits and inner hyphens, at most 63.'),
  resource_not_bridge: row(409, 'Not a bridge', 'The resource is not of kind bridge.'),
  allowed_subnet_empty: invalid('No allowed subnet', 'A tunnel has at least one allowed subnet.'),
  secret_ref_malformed: invalid(
    'Malformed secret reference',
    'A secret reference is secret:<domain>/<project>/<name>, perhaps with :<version>, and names the Domain and the Project of the bridge.',
  ),
  target_node_not_in_domain: invalid(
    'Target node elsewhere',
    'The target node does not exist in the Domain of the bridge.',
  ),
  bridge_port_conflict: row<Collision & { readonly port: number }>(
    409,
    'Port taken',
    'Another part of the bridge has claimed this port; the problem says which.',
  ),
  interface_name_conflict: row<Collision>(
    409,
    'Interface name taken',
    'Another user-access provider of the bridge has this interface name.',
  ),
  subnet_overlap_with_mesh: row<{ readonly subnet: string }>(
    409,
    'Subnet overlaps the mesh',
    'A subnet of the tunnel overlaps the addresses of the mesh.',
  ),
  subnet_overlap_with_tunnel: row<Collision & { readonly subnet: string }>(
    409,
    'Subnet overlaps a tunnel',
    'A subnet of the tunnel overlaps one of another tunnel of the bridge; the problem says which.',
  ),
  subnet_overlap_with_user_access: row<Collision & { readonly subnet: string }>(
    409,
    'Subnet overlaps user access',
    'A subnet overlaps the addresses of the peers of another user-access provider of the bridge; the problem says which.',
  ),
  peer_subnet_missing: row(
    409,
    'No subnet for peers',
    'The user-access provider has no subnet that its peers could have addresses of.',
  ),
  peer_subnet_in_use: row(
    409,
    'Subnet in use',
    'Peers of the user-access provider have addresses that the new subnet does not give to peers.',
  ),
  max_peers_reached: row<{ readonly limit: number }>(
    409,
    'Too many peers',
    'The user-access provider admits no more peers; the problem has the number that it admits.',
  ),
  peer_name_conflict: row(409, 'Peer name taken', 'Another peer of the user-access provider has this name.'),
  peer_key_conflict: row(409, 'Public key in use', 'Another peer of the user-access provider has this public key.'),
  user_access_peer_not_found: row(404, 'Peer not found', 'The user-access provider has no such peer.'),
  acme_directory_unreachable: row<{ readonly reason: string }>(
    422,
    'ACME directory unreachable',
    'The ACME directory did not answer with a usable directory; the reason says what went wrong.',
  ),
  bridge_limit_exceeded: row<{ readonly limit: string }>(
    409,
    'Bridge is full',
    'The bridge would be larger than is allowed; the problem names the limit.',
  ),
  bridge_relay_not_found: row(404, 'Relay not found', 'The bridge has no relay.'),
  user_access_provider_not_found: row(404, 'Provider not found', 'The bridge has no such user-access provider.'),
  ingress_rule_not_found: row(404, 'Ingress rule not found', 'The bridge has no such ingress rule.'),
  site_to_site_tunnel_not_found: row(404, 'Tunnel not found', 'The bridge has no such tunnel.'),
  bridge_not_provisioned: row(501, 'Not provisioned', 'Bridges are not configured on this server.'),
} as const

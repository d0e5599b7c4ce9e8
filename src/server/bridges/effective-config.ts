import { canonicalize } from '../../shared/canonical-json.ts'
import type { BridgeParts, IngressRule, Tunnel, UserAccess, UserAccessPeer } from './bridge-parts.ts'

/** Bytes of the longest effective configuration of one resource (decisions: Sizes). */
export const CONFIG_BYTES_MAX = 512 * 1024

/** What the configuration holds beside the parts. */
export interface ConfigSurroundings {
  /** Nodes whose relayed edges prefer this bridge, ascending; none: the relay serves any node. */
  readonly assignedNodeIds: readonly string[]
  /** The ingress targets that exist. A rule of another target is left out. */
  readonly targetIds: ReadonlySet<string>
}

/**
 * What the hosts of a bridge are to run, as RFC 8785 bytes (decisions: effective_config). Lists are sorted by slug in bytes,
 * subnets and assignments ascending. Stored once at change time, then shared by events and snapshots.
 */
export function effectiveConfigOf(parts: BridgeParts, { assignedNodeIds, targetIds }: ConfigSurroundings): string {
  const { relay, userAccess, peers, ingress, tunnels } = parts
  return canonicalize({
    ingress: ingress.filter(({ target_node_id: id }) => targetIds.has(id)).map(ingressOf),
    relay: relay === undefined ? null : { ...relay, assignments: assignedNodeIds.map((id) => ({ peer_node_id: id })) },
    tunnels: tunnels.map(tunnelOf),
    user_access: userAccess.map((provider) => userAccessOf(provider, peers)),
  })
}

const fits = (config: string): boolean => Buffer.byteLength(config) <= CONFIG_BYTES_MAX

/**
 * The same, within its maximum length: where the assignments alone make it longer, the relay serves any node. Undefined where
 * it is longer without them, too.
 */
export function fittingConfigOf(parts: BridgeParts, surroundings: ConfigSurroundings): string | undefined {
  const config = effectiveConfigOf(parts, surroundings)
  if (fits(config)) return config
  const unassigned = effectiveConfigOf(parts, { ...surroundings, assignedNodeIds: [] })
  return fits(unassigned) ? unassigned : undefined
}

/** Whether the configuration can name the nodes that prefer the bridge. */
export function assignmentsFit(parts: BridgeParts, surroundings: ConfigSurroundings): boolean {
  return fits(effectiveConfigOf(parts, surroundings))
}

function ingressOf({ slug, sni_host, target_node_id, target_port, acme_account_ref }: IngressRule): object {
  return { slug, sni_host, target_node_id, target_port, acme_account_ref }
}

function tunnelOf(tunnel: Tunnel): object {
  const { slug, kind, remote_host, remote_port, auth_secret_ref, allowed_subnets, routing_policy } = tunnel
  return { slug, kind, remote_host, remote_port, auth_secret_ref, allowed_subnets, routing_policy }
}

/** A provider without a subnet has the members that it had before there were peers. */
function userAccessOf(provider: UserAccess, peers: readonly UserAccessPeer[]): object {
  const { slug, kind, interface_name, listen_port, max_peers, auth_secret_ref, routing_policy, peer_subnet } = provider
  const own = peers.filter((peer) => peer.slug === slug)
  return {
    slug,
    kind,
    interface_name,
    listen_port,
    max_peers,
    auth_secret_ref,
    routing_policy: JSON.parse(routing_policy) as unknown,
    ...(peer_subnet !== null && {
      peer_subnet,
      peers: own.map(({ public_key, address }) => ({ public_key, address })),
    }),
  }
}

import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../ports/datastore.ts'
import type { BridgeParts, IngressRule, Relay, Tunnel, UserAccess, UserAccessPeer } from './bridge-parts.ts'

interface PartsRow {
  readonly relay: Relay | null
  readonly user_access: readonly UserAccess[] | null
  readonly peers: readonly UserAccessPeer[] | null
  readonly ingress: readonly IngressRule[] | null
  readonly tunnels: readonly Tunnel[] | null
}

const NOTHING: PartsRow = { relay: null, user_access: null, peers: null, ingress: null, tunnels: null }

/** Reads everything that a bridge consists of, in one statement: a write of a part reads it three times. */
export async function readParts(db: Db, resourceId: string): Promise<BridgeParts> {
  const ofBridge = sql`where resource_id = ${resourceId}::uuid`
  const { rows } = await sql<PartsRow>`
    select
      (select row_to_json(part) from (select enabled, listen_port from bridge_relays ${ofBridge}) as part) as relay,
      ${listed(sql`
        select slug, kind, interface_name, listen_port, max_peers, auth_secret_ref, routing_policy, peer_subnet
        from bridge_user_access ${ofBridge}`)} as user_access,
      (select json_agg(peer order by peer.slug, peer.public_key) from (
        select slug, name, public_key, address from bridge_user_access_peers ${ofBridge}) as peer) as peers,
      ${listed(sql`
        select slug, sni_host, target_node_id, target_port, acme_account_ref
        from bridge_ingress_rules ${ofBridge}`)} as ingress,
      ${listed(sql`
        select slug, kind, remote_host, remote_port, auth_secret_ref, allowed_subnets, routing_policy
        from bridge_tunnels ${ofBridge}`)} as tunnels`.execute(db)
  const [row = NOTHING] = rows
  return {
    relay: row.relay ?? undefined,
    userAccess: row.user_access ?? [],
    peers: row.peers ?? [],
    ingress: row.ingress ?? [],
    tunnels: row.tunnels ?? [],
  }
}

/** The rows as a JSON array, by slug. */
function listed(parts: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(select json_agg(part order by part.slug) from (${parts}) as part)`
}

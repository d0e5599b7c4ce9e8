import type { Db } from '../ports/datastore.ts'
import type { BridgeParts } from './bridge-parts.ts'

/** Reads everything that a bridge consists of. */
export async function readParts(db: Db, resourceId: string): Promise<BridgeParts> {
  const relay = await db
    .selectFrom('bridge_relays')
    .select(['enabled', 'listen_port'])
    .where('resource_id', '=', resourceId)
    .executeTakeFirst()
  const userAccess = await db
    .selectFrom('bridge_user_access')
    .select(['slug', 'kind', 'interface_name', 'listen_port', 'max_peers', 'auth_secret_ref', 'routing_policy'])
    .where('resource_id', '=', resourceId)
    .orderBy('slug')
    .execute()
  const ingress = await db
    .selectFrom('bridge_ingress_rules')
    .select(['slug', 'sni_host', 'target_node_id', 'target_port', 'acme_account_ref'])
    .where('resource_id', '=', resourceId)
    .orderBy('slug')
    .execute()
  const tunnels = await db
    .selectFrom('bridge_tunnels')
    .select(['slug', 'kind', 'remote_host', 'remote_port', 'auth_secret_ref', 'allowed_subnets', 'routing_policy'])
    .where('resource_id', '=', resourceId)
    .orderBy('slug')
    .execute()
  return { relay, userAccess, ingress, tunnels }
}

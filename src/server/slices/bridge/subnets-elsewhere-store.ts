import { sql } from 'kysely'
import type { Bridge } from '../../bridges/find-bridge.ts'
import type { RoutedElsewhere } from '../../bridges/shared-subnets.ts'
import type { Db } from '../../ports/datastore.ts'

/** What the other bridges of the Domain that have hosts lead to, by their ids. Peers reach nothing through one without. */
export async function routesElsewhere(db: Db, { resourceId, domainId }: Bridge): Promise<readonly RoutedElsewhere[]> {
  const { rows } = await sql<{ resource_id: string; subnets: string[] }>`
    select parts.resource_id, parts.subnets
    from (
      select resource_id, allowed_subnets as subnets from bridge_tunnels
      union all select resource_id, array[peer_subnet] from bridge_user_access
        where peer_subnet is not null and kind = 'wireguard'
    ) as parts
    join resources on resources.id = parts.resource_id
    where resources.domain_id = ${domainId} and resources.id <> ${resourceId}
      and exists (select from resource_hosts as hosts where hosts.resource_id = resources.id)
    order by parts.resource_id`.execute(db)
  return rows.map(({ resource_id, subnets }) => ({ resourceId: resource_id, subnets }))
}

import { sql } from 'kysely'
import type { DomainQuery } from '../../sql/domain-job.ts'
import type { Db } from '../../ports/datastore.ts'

/** The subnets behind a bridge, those of its tunnels and of the devices of people, and the node through which peers reach them. */
export interface HostedBridge {
  readonly resourceId: string
  readonly hostId: string
  readonly subnets: readonly string[]
}

/** The host through which peers reach a bridge: the reachable one with the lowest id, or the lowest where none is reachable. */
const HOST = sql`
  select hosts.node_id
  from resource_hosts as hosts
  join nodes on nodes.id = hosts.node_id and nodes.domain_id = resources.domain_id
  left join node_heartbeats as beats on beats.node_id = nodes.id
  where hosts.resource_id = resources.id
  order by coalesce(beats.announced_state in ('healthy', 'stale'), false) desc, hosts.node_id limit 1`

const BRIDGES = sql`
  select resources.domain_id, resources.id as resource_id, host.node_id as host_id, routed.subnets
  from (
    select resource_id, array_agg(distinct subnet order by subnet) as subnets
    from (
      select resource_id, unnest(allowed_subnets) as subnet from bridge_tunnels
      union all select resource_id, peer_subnet from bridge_user_access
        where peer_subnet is not null and kind = 'wireguard'
    ) as parts group by resource_id
  ) as routed
  join resources on resources.id = routed.resource_id
  cross join lateral (${HOST}) as host`

/** A digest of what the subnets of each Domain are to be chosen by. PostgreSQL with FIPS mode has no MD5. */
const BASES = sql`
  select bridges.domain_id,
    encode(sha256(convert_to(domains.mesh_cidr || domains.routed_networks::text || string_agg(
      concat_ws(' ', '', resource_id, host_id, array_to_string(subnets, ' ')), '' order by resource_id
    ), 'UTF8')), 'hex') as basis
  from (${BRIDGES}) as bridges join domains on domains.id = bridges.domain_id
  group by bridges.domain_id, domains.mesh_cidr, domains.routed_networks`

/** Up to `max` Domains whose subnets were chosen by something else than what is stored now, by id, without those in `except`. */
export async function outdatedSubnets(db: Db, { max, except }: DomainQuery): Promise<readonly string[]> {
  const { rows } = await sql<{ domain_id: string }>`
    select peers.domain_id
    from domain_peers as peers left join (${BASES}) as bases on bases.domain_id = peers.domain_id
    where peers.subnet_basis <> coalesce(bases.basis, '') and peers.domain_id <> all (${[...except]}::uuid[])
    order by peers.domain_id limit ${max}`.execute(db)
  return rows.map((row) => row.domain_id)
}

/** The bridges of a Domain that have subnets and hosts, by resource id. */
export async function readHostedBridges(tx: Db, domainId: string): Promise<readonly HostedBridge[]> {
  const { rows } = await sql<{ resource_id: string; host_id: string; subnets: string[] }>`
    select resource_id, host_id, subnets from (${BRIDGES}) as bridges
    where domain_id = ${domainId} order by resource_id`.execute(tx)
  return rows.map(({ resource_id, host_id, subnets }) => ({ resourceId: resource_id, hostId: host_id, subnets }))
}

/** The subnets that are stored, by node id. */
export async function readHostedSubnets(tx: Db, domainId: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await tx
    .selectFrom('nodes')
    .select(['id', 'hosted_subnets'])
    .where('domain_id', '=', domainId)
    .where(sql<boolean>`hosted_subnets <> '{}'`)
    .execute()
  return new Map(rows.map(({ id, hosted_subnets: subnets }) => [id, subnets]))
}

/** Stores the subnets of a node. Returns whether it exists. */
export async function storeHostedSubnets(tx: Db, nodeId: string, subnets: readonly string[]): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('nodes')
    .set({ hosted_subnets: [...subnets] })
    .where('id', '=', nodeId)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Notes by what the subnets of a Domain are chosen. Call it before what it covers is read, under the lock of the Domain's peers. */
export async function noteBasis(tx: Db, domainId: string): Promise<void> {
  await sql`
    update domain_peers set subnet_basis = coalesce((
      select basis from (${BASES}) as bases where bases.domain_id = ${domainId}
    ), '')
    where domain_id = ${domainId}`.execute(tx)
}

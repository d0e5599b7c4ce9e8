import { sql } from 'kysely'
import type { DomainQuery } from '../../sql/domain-job.ts'
import type { Db } from '../../ports/datastore.ts'

/** The hosts of enabled relays that are reachable, with the port of the relay. */
const HOSTS = sql`
  select relays.domain_id, relays.resource_id, relays.listen_port, hosts.node_id
  from bridge_relays as relays
  join resource_hosts as hosts on hosts.resource_id = relays.resource_id
  join nodes on nodes.id = hosts.node_id and nodes.domain_id = relays.domain_id
  join node_heartbeats as beats on beats.node_id = nodes.id and beats.announced_state in ('healthy', 'stale')
  where relays.enabled`

/** The correct choice of each Domain: the two lowest hosts. A node that hosts several relays is reached by that of the lowest bridge. */
const SUITABLE = sql`
  select domain_id, array_agg(node_id order by node_id) as node_ids, array_agg(listen_port order by node_id) as ports
  from (
    select distinct on (domain_id, node_id) domain_id, node_id, listen_port
    from (${HOSTS}) as host order by domain_id, node_id, resource_id
  ) as host
  group by domain_id`

/** The correct choice of each bridge: its two lowest hosts. */
const SUITABLE_OF_BRIDGES = sql`
  select domain_id, resource_id, listen_port, array_agg(node_id order by node_id) as node_ids
  from (${HOSTS}) as host
  group by domain_id, resource_id, listen_port`

/** Up to `max` Domains of which a stored choice is no longer the right one, by id, without those in `except`. */
export async function outdatedChoices(db: Db, { max, except }: DomainQuery): Promise<readonly string[]> {
  const { rows } = await sql<{ domain_id: string }>`
    with suitable as (${SUITABLE}), of_bridge as (${SUITABLE_OF_BRIDGES})
    select peers.domain_id
    from domain_peers as peers left join suitable on suitable.domain_id = peers.domain_id
    where peers.domain_id <> all (${[...except]}::uuid[]) and (
      ${isOutdated}
      or peers.domain_id in (
        select coalesce(of_bridge.domain_id, choice.domain_id)
        from of_bridge full join relay_choices as choice on choice.resource_id = of_bridge.resource_id
        where ${isOtherChoice}
      )
    )
    order by peers.domain_id limit ${max}`.execute(db)
  return rows.map((row) => row.domain_id)
}

const isOutdated = sql`(
  peers.relay_node_id is distinct from suitable.node_ids[1] or peers.relay_port is distinct from suitable.ports[1]
  or peers.second_relay_node_id is distinct from suitable.node_ids[2]
  or peers.second_relay_port is distinct from suitable.ports[2]
)`

const isOtherChoice = sql`(
  choice.relay_node_id is distinct from of_bridge.node_ids[1] or choice.listen_port is distinct from of_bridge.listen_port
  or choice.second_relay_node_id is distinct from of_bridge.node_ids[2]
)`

/** Locks a Domain's peers, so that nothing that their revision covers changes until the transaction ends; false when there are none. */
export async function lockPeers(tx: Db, domainId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('domain_peers')
    .select('domain_id')
    .where('domain_id', '=', domainId)
    .forUpdate()
    .executeTakeFirst()
  return row !== undefined
}

/** Stores the right choice of a Domain; false where it is stored already. */
export async function chooseRelays(tx: Db, domainId: string): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update domain_peers set relay_node_id = suitable.node_ids[1], relay_port = suitable.ports[1],
      second_relay_node_id = suitable.node_ids[2], second_relay_port = suitable.ports[2]
    from domain_peers as peers
    left join (select * from (${SUITABLE}) as every where domain_id = ${domainId}) as suitable
      on suitable.domain_id = peers.domain_id
    where domain_peers.domain_id = ${domainId} and peers.domain_id = ${domainId} and ${isOutdated}`.execute(tx)
  return numAffectedRows > 0n
}

/** Stores the right choices of the bridges of a Domain. Gives the bridges of which another one was stored. */
export async function chooseBridgeRelays(tx: Db, domainId: string): Promise<readonly string[]> {
  const { rows } = await sql<{ resource_id: string }>`
    with of_bridge as (select * from (${SUITABLE_OF_BRIDGES}) as every where domain_id = ${domainId}),
    gone as (
      delete from relay_choices as choice
      where domain_id = ${domainId} and not exists (
        select from of_bridge where of_bridge.resource_id = choice.resource_id
      )
      returning resource_id
    ),
    stored as (
      insert into relay_choices as choice (resource_id, domain_id, relay_node_id, second_relay_node_id, listen_port)
      select resource_id, domain_id, node_ids[1], node_ids[2], listen_port from of_bridge
      on conflict (resource_id) do update set relay_node_id = excluded.relay_node_id,
        second_relay_node_id = excluded.second_relay_node_id, listen_port = excluded.listen_port
      where choice.relay_node_id <> excluded.relay_node_id or choice.listen_port <> excluded.listen_port
        or choice.second_relay_node_id is distinct from excluded.second_relay_node_id
      returning resource_id
    )
    select resource_id from gone union all select resource_id from stored`.execute(tx)
  return rows.map((row) => row.resource_id)
}

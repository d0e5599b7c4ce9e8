import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { Relays } from '../../sql/edge-mode.ts'

/** The correct choice of each Domain: the two lowest of its nodes that are reachable and host an enabled relay. */
const SUITABLE = sql`
  select relays.domain_id, array_agg(distinct hosts.node_id order by hosts.node_id) as node_ids
  from bridge_relays as relays
  join resource_hosts as hosts on hosts.resource_id = relays.resource_id
  join nodes on nodes.id = hosts.node_id and nodes.domain_id = relays.domain_id
  join node_heartbeats as beats on beats.node_id = nodes.id and beats.announced_state in ('healthy', 'stale')
  where relays.enabled
  group by relays.domain_id`

/** Up to `max` Domains whose stored choice is no longer the right one, by id. */
export async function outdatedChoices(db: Db, max: number): Promise<readonly string[]> {
  const { rows } = await sql<{ domain_id: string }>`
    with suitable as (${SUITABLE})
    select peers.domain_id
    from domain_peers as peers left join suitable on suitable.domain_id = peers.domain_id
    where peers.relay_node_id is distinct from suitable.node_ids[1]
      or peers.second_relay_node_id is distinct from suitable.node_ids[2]
    order by peers.domain_id limit ${max}`.execute(db)
  return rows.map((row) => row.domain_id)
}

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
    with suitable as (select node_ids from (${SUITABLE}) as every where domain_id = ${domainId}),
      choice as (select (select node_ids from suitable) as node_ids)
    update domain_peers set relay_node_id = choice.node_ids[1], second_relay_node_id = choice.node_ids[2]
    from choice
    where domain_id = ${domainId} and (
      relay_node_id is distinct from choice.node_ids[1] or second_relay_node_id is distinct from choice.node_ids[2]
    )`.execute(tx)
  return numAffectedRows > 0n
}

/** The stored choice of a Domain; none without a row. */
export async function readRelays(db: Db, domainId: string): Promise<Relays> {
  const row = await db
    .selectFrom('domain_peers')
    .select(['relay_node_id', 'second_relay_node_id'])
    .where('domain_id', '=', domainId)
    .executeTakeFirst()
  return row ?? { relay_node_id: null, second_relay_node_id: null }
}

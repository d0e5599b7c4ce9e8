import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../ports/datastore.ts'

// Two numbers say which state a node should know: that of its Domain's peers and that of what is its own. Both rise in the
// transaction of the change, under a row lock, so that their order is that of the commits and equal numbers mean equal
// state on every replica. A transaction that raises both raises the Domain's first. Rows are locked in this
// order: the Domain's peers, nodes, heartbeats of nodes.

/**
 * Keeps others from changing the peers of Domains until the transaction ends. A caller that locks the row of a node, or of its
 * heartbeats, before it says what changed calls this first: the Domain's row is locked before theirs, those of several Domains
 * in ascending order.
 */
export async function holdPeers(tx: Db, ...domainIds: readonly string[]): Promise<void> {
  await tx
    .selectFrom('domain_peers')
    .select('domain_id')
    .where('domain_id', '=', sql<string>`any(${domainIds}::uuid[])`)
    .orderBy('domain_id')
    .forNoKeyUpdate()
    .execute()
}

/**
 * Says that other nodes see something new of these nodes, which exist. What a relay is reached by shows on the rows of all
 * others, so that a change of one is a change of the whole.
 */
export async function peersChanged(tx: Db, domainId: string, nodeIds: readonly string[]): Promise<void> {
  await sql`
    with risen as (
      insert into domain_peers (domain_id, revision) values (${domainId}, 1)
      on conflict (domain_id) do update set revision = domain_peers.revision + 1,
        whole_revision = case
          when domain_peers.relay_node_id = any(${nodeIds}::uuid[])
            or domain_peers.second_relay_node_id = any(${nodeIds}::uuid[])
            or exists (
              select from relay_choices as choice
              where choice.domain_id = ${domainId}
                and (choice.relay_node_id = any(${nodeIds}::uuid[]) or choice.second_relay_node_id = any(${nodeIds}::uuid[]))
                and exists (select from relay_preferences as preferred where preferred.resource_id = choice.resource_id)
            ) then domain_peers.revision + 1
          else domain_peers.whole_revision end
      returning revision
    )
    update nodes set peer_revision = risen.revision from risen where nodes.id = any(${nodeIds}::uuid[])`.execute(tx)
}

/**
 * The query of a CTE that raises the peer revision of each Domain in the `domain_id` column of `source`, for nodes that the
 * same statement inserts. It returns the new `revision` of each Domain, which is the `peer_revision` of its new nodes. A new
 * node is no relay yet. Domains are locked in ascending order.
 */
export function risenBy(source: RawBuilder<unknown>): RawBuilder<{ domain_id: string; revision: string }> {
  return sql`
    insert into domain_peers (domain_id, revision) select distinct domain_id, 1 from ${source} order by domain_id
    on conflict (domain_id) do update set revision = domain_peers.revision + 1
    returning domain_id, revision`
}

/** Says that something changed that no node's own row tells: one is gone, or all of them are reached by another relay. */
export async function peersChangedWhole(tx: Db, domainId: string): Promise<void> {
  await sql`
    insert into domain_peers (domain_id, revision, whole_revision) values (${domainId}, 1, 1)
    on conflict (domain_id) do update
    set revision = domain_peers.revision + 1, whole_revision = domain_peers.revision + 1`.execute(tx)
}

/** Who changed a node's own state. What the node itself reports, it need not pull. */
export type ChangedBy = 'server' | 'node'

/** Says that something changed that a node sees of itself: its name or keys, its policies, bridges, reports, executions or sessions. */
export async function ownStateChanged(tx: Db, nodeIds: readonly string[], by: ChangedBy = 'server'): Promise<void> {
  if (nodeIds.length === 0) return
  // Locked in one order: batches of heartbeats lock many of these rows too.
  await sql`
    update node_heartbeats set node_revision = node_revision + 1,
      pulled_node_revision = case
        when ${by === 'node'} and pulled_node_revision = node_revision then node_revision + 1
        else pulled_node_revision end
    from (
      select node_id from node_heartbeats where node_id = any(${nodeIds}::uuid[]) order by node_id for update
    ) as changed
    where node_heartbeats.node_id = changed.node_id`.execute(tx)
}

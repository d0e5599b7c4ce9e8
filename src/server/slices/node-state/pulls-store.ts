import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { Pull } from './pulls.ts'

/** Stores which revisions nodes have pulled, where they changed. Rows are locked in the order of their ids, as in every batch. */
export async function writePulls(db: Db, pulls: readonly Pull[]): Promise<void> {
  const ids = pulls.map(({ nodeId }) => nodeId)
  const [peers, nodes] = [pulls.map((pull) => pull.peers), pulls.map((pull) => pull.node)]
  await sql`
    update node_heartbeats as h
    set pulled_peer_revision = greatest(h.pulled_peer_revision, pulled.peers),
      pulled_node_revision = greatest(h.pulled_node_revision, pulled.node)
    from (
      select stored.node_id, sent.peers, sent.node
      from unnest(${ids}::uuid[], ${peers}::bigint[], ${nodes}::bigint[]) as sent (node_id, peers, node)
      join node_heartbeats as stored on stored.node_id = sent.node_id
      where stored.pulled_peer_revision is null or stored.pulled_peer_revision < sent.peers
        or stored.pulled_node_revision is null or stored.pulled_node_revision < sent.node
      order by stored.node_id for no key update of stored
    ) as pulled
    where h.node_id = pulled.node_id`.execute(db)
}

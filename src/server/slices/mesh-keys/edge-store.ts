import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { FarEnd } from '../../sql/edge-mode.ts'

/** The input of one end to an edge's key. */
export interface StoredEnd {
  readonly id: string
  readonly psk_sealed: Buffer
  /** Integer nanoseconds since the epoch, in decimal. */
  readonly psk_issued_at: string
  /** Whether nodes of the Domain see only some of the others, and the revision that decides which. */
  readonly is_filtered: boolean
  readonly peer_revision: string
}

/** Reads the ends of those nodes that the Domain has, in one snapshot, by id. */
export async function readEnds(
  db: Db,
  domainId: string,
  nodeIds: readonly string[],
): Promise<ReadonlyMap<string, StoredEnd>> {
  const rows = await db
    .selectFrom('nodes as n')
    .innerJoin('domains as d', 'd.id', 'n.domain_id')
    .leftJoin('domain_peers as p', 'p.domain_id', 'n.domain_id')
    .select(['n.id', 'n.psk_sealed', 'n.psk_issued_at'])
    .select((on) => [
      on('d.peer_visibility', '=', 'reachable').as('is_filtered'),
      on.fn.coalesce('p.revision', sql<string>`0`).as('peer_revision'),
    ])
    .where('n.domain_id', '=', domainId)
    .where('n.id', 'in', nodeIds)
    .execute()
  return new Map(rows.map((row) => [row.id, { ...row, is_filtered: Boolean(row.is_filtered) }]))
}

/** Every other node of the Domain by id, as the far end of an edge. */
export async function readPeers(db: Db, domainId: string, nodeId: string): Promise<readonly FarEnd[]> {
  const rows = await db
    .selectFrom('nodes as n')
    .leftJoin('node_endpoints as e', (on) =>
      on.onRef('e.node_id', '=', 'n.id').on('e.last_endpoint_stale_at', 'is', null),
    )
    .leftJoin('relay_preferences as preferred', 'preferred.node_id', 'n.id')
    .select(['n.id', 'e.node_id as endpoint_of', 'preferred.resource_id as bridge_id'])
    .where('n.domain_id', '=', domainId)
    .where('n.id', '<>', nodeId)
    .orderBy('n.id')
    .execute()
  return rows.map(({ id, endpoint_of, bridge_id }) => {
    return { nodeId: id, hasEndpoint: endpoint_of !== null, bridgeId: bridge_id }
  })
}

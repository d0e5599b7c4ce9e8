import type { Db } from '../../ports/datastore.ts'
import type { Relays } from '../../sql/edge-mode.ts'

/** The input of one end to an edge's key. */
export interface StoredEnd {
  readonly id: string
  readonly psk_sealed: Buffer
  /** Integer nanoseconds since the epoch, in decimal. */
  readonly psk_issued_at: string
}

/** Reads the ends of those nodes that the Domain has, in one snapshot, by id. */
export async function readEnds(
  db: Db,
  domainId: string,
  nodeIds: readonly string[],
): Promise<ReadonlyMap<string, StoredEnd>> {
  const rows = await db
    .selectFrom('nodes')
    .select(['id', 'psk_sealed', 'psk_issued_at'])
    .where('domain_id', '=', domainId)
    .where('id', 'in', nodeIds)
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/** A node's Domain, and the relays for edges to it. */
export type EdgeGround = Relays & { readonly domain_id: string }

/** Undefined when there is no such node. */
export function readGround(db: Db, nodeId: string): Promise<EdgeGround | undefined> {
  return db
    .selectFrom('nodes as n')
    .leftJoin('domain_peers as d', 'd.domain_id', 'n.domain_id')
    .select(['n.domain_id', 'd.relay_node_id', 'd.second_relay_node_id'])
    .where('n.id', '=', nodeId)
    .executeTakeFirst()
}

/** Every other node of the Domain by id, and whether it has an endpoint that is not stale. */
export async function readPeers(
  db: Db,
  domainId: string,
  nodeId: string,
): Promise<readonly { readonly nodeId: string; readonly hasEndpoint: boolean }[]> {
  const rows = await db
    .selectFrom('nodes as n')
    .leftJoin('node_endpoints as e', (on) =>
      on.onRef('e.node_id', '=', 'n.id').on('e.last_endpoint_stale_at', 'is', null),
    )
    .select(['n.id', 'e.node_id as endpoint_of'])
    .where('n.domain_id', '=', domainId)
    .where('n.id', '<>', nodeId)
    .orderBy('n.id')
    .execute()
  return rows.map(({ id, endpoint_of }) => ({ nodeId: id, hasEndpoint: endpoint_of !== null }))
}

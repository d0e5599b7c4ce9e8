import type { Db } from '../../ports/datastore.ts'

/** The `node_seq` up to which everything of the node was given to the bus; 0 where nothing was. */
export async function publishedUpTo(db: Db, nodeId: string): Promise<bigint> {
  const lane = await db
    .selectFrom('node_lanes as l')
    .leftJoin('outgoing_events as o', 'o.node_id', 'l.node_id')
    .select(['l.last_seq', ({ fn }) => fn.min('o.node_seq').as('first_waiting')])
    .where('l.node_id', '=', nodeId)
    .groupBy('l.last_seq')
    .executeTakeFirst()
  if (lane === undefined) return 0n
  return lane.first_waiting === null ? BigInt(lane.last_seq) : BigInt(lane.first_waiting) - 1n
}

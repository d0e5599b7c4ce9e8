import type { Db } from '../ports/datastore.ts'

// A deregistration deletes the node's row first, then all that hangs on it. A caller that locks two rows that hang on a node holds
// the node before, so that they wait for a deregistration here and nowhere else.

/**
 * Keeps the node from being deregistered until the transaction ends. Gives its Domain; undefined when there is no such
 * node, or none in `domainId` where that is given.
 */
export async function holdNode(tx: Db, nodeId: string, domainId?: string): Promise<string | undefined> {
  const node = await tx
    .selectFrom('nodes')
    .select('domain_id')
    .where('id', '=', nodeId)
    .$if(domainId !== undefined, (query) => query.where('domain_id', '=', domainId ?? ''))
    .forKeyShare()
    .executeTakeFirst()
  return node?.domain_id
}

/** Does so with many nodes, and gives those that there are; the others are passed over. */
export async function holdNodes(tx: Db, nodeIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (nodeIds.length === 0) return new Set()
  const held = await tx
    .selectFrom('nodes')
    .select('id')
    .where('id', 'in', nodeIds)
    .orderBy('id')
    .forKeyShare()
    .execute()
  return new Set(held.map(({ id }) => id))
}

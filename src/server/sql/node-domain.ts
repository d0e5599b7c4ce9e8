import type { Db } from '../ports/datastore.ts'

/** The Domain of a node; undefined when there is no such node. */
export async function domainOfNode(db: Db, nodeId: string): Promise<string | undefined> {
  const node = await db.selectFrom('nodes').select('domain_id').where('id', '=', nodeId).executeTakeFirst()
  return node?.domain_id
}

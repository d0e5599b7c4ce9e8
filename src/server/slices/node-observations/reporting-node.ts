import { problem } from '../../../shared/problems.ts'
import type { Db } from '../../ports/datastore.ts'

/**
 * Locks the row of the node that reports, so that its reports take turns and it stays until the transaction ends. Taken
 * before any row that hangs on the node: a deregistration takes them in that order. Gives its Domain's id.
 *
 * @throws Problem `unauthorized` when the node is gone: its credential is dead with it.
 */
export async function lockReportingNode(tx: Db, nodeId: string): Promise<string> {
  const node = await tx
    .selectFrom('nodes')
    .select('domain_id')
    .where('id', '=', nodeId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (node === undefined) throw problem('unauthorized')
  return node.domain_id
}

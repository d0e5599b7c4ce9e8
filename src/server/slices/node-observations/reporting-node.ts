import { problem } from '../../../shared/problems.ts'
import type { Db } from '../../ports/datastore.ts'
import { lockNode } from '../../sql/lock-node.ts'

/**
 * Locks the row of the node that reports, so that its reports are serialized and it is not deleted until the transaction ends. Locked
 * before any row that refers to the node: a deregistration locks them in that order. Returns its Domain's id.
 *
 * @throws Problem `unauthorized` when the node was deleted: its credential is then invalid.
 */
export async function lockReportingNode(tx: Db, nodeId: string): Promise<string> {
  const node = await lockNode(tx, nodeId)
  if (node === undefined) throw problem('unauthorized')
  return node.domain_id
}

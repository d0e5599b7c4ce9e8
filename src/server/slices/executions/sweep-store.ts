import type { Db } from '../../ports/datastore.ts'
import { holdNodes } from '../../sql/hold-node.ts'

/** Ends executions whose time is up, the earliest first, and returns their nodes, some more than once. */
export async function endOverdue(tx: Db, now: Date, max: number): Promise<readonly string[]> {
  const due = await tx
    .selectFrom('executions')
    .select(['id', 'node_id'])
    .where('finished_at', 'is', null)
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(max)
    .execute()
  if (due.length === 0) return []
  await holdNodes(
    tx,
    due.map(({ node_id }) => node_id),
  )
  const ids = due.map(({ id }) => id)
  const ended = await tx
    .updateTable('executions')
    .set({ status: 'timeout', finished_at: now })
    .where('id', 'in', ids)
    .where('finished_at', 'is', null)
    .returning('node_id')
    .execute()
  return ended.map(({ node_id }) => node_id)
}

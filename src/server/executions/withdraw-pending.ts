import type { Change } from '../ports/unit-of-work.ts'
import { holdNodes } from '../sql/hold-node.ts'
import { ownStateChanged } from '../sql/state-revisions.ts'
import { announceCancelled } from './announce.ts'

/** Executions of one Domain. */
export interface Withdrawn {
  readonly domainId: string
  readonly executionIds: readonly string[]
  readonly at: Date
}

/** Cancels those executions that no agent has taken up, and says which they were. */
export async function withdrawPending(
  change: Change,
  { domainId, executionIds, at }: Withdrawn,
): Promise<readonly string[]> {
  const { db } = change
  if (executionIds.length === 0) return []
  const pending = await db
    .selectFrom('executions')
    .select('node_id')
    .where('id', 'in', executionIds)
    .where('status', '=', 'pending')
    .execute()
  await holdNodes(
    db,
    pending.map(({ node_id }) => node_id),
  )
  const cancelled = await db
    .updateTable('executions')
    .set({ status: 'cancelled', finished_at: at })
    .where('id', 'in', executionIds)
    .where('domain_id', '=', domainId)
    .where('status', '=', 'pending')
    .returning(['id', 'node_id', 'domain_id'])
    .execute()
  await ownStateChanged(
    db,
    cancelled.map(({ node_id }) => node_id),
  )
  for (const execution of cancelled) announceCancelled(change, execution)
  return cancelled.map(({ id }) => id)
}

import type { Change } from '../ports/unit-of-work.ts'
import { ownStateChanged } from '../sql/state-revisions.ts'
import { announceRequested } from './announce.ts'
import type { ExecutionRecord } from './new-execution.ts'

/**
 * Stores new executions and sends them to their nodes, which the caller holds (`holdNode`). The caller has also seen to it that
 * their Domain has room for them (`lockRoom`).
 */
export async function requestExecutions(change: Change, executions: readonly ExecutionRecord[]): Promise<void> {
  if (executions.length === 0) return
  await change.db.insertInto('executions').values(executions).execute()
  await ownStateChanged(
    change.db,
    executions.map(({ node_id }) => node_id),
  )
  for (const execution of executions) announceRequested(change, execution)
}

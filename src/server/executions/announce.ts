import type { Change } from '../ports/unit-of-work.ts'
import { parametersOf, type ExecutionRecord } from './new-execution.ts'

/** Sends the new execution to the node, with the members of the pull's block (S0 NodeStateSnapshot). */
export function announceRequested(change: Change, execution: ExecutionRecord): void {
  const { id, node_id, domain_id: domainId, action, type, status, requested_at, expires_at } = execution
  const payload = {
    node_id,
    execution_id: id,
    action,
    type,
    ...parametersOf(execution),
    status,
    requested_at: requested_at.toISOString(),
    expires_at: expires_at.toISOString(),
  }
  change.emit({ event: 'execution_requested', domainId, aggregate: `node:${node_id}`, payload })
}

/** An execution that was cancelled. */
type Cancelled = Pick<ExecutionRecord, 'id' | 'node_id' | 'domain_id'>

/** Sends the cancellation of an execution to the node. */
export function announceCancelled(change: Change, { id, node_id, domain_id }: Cancelled): void {
  const payload = { node_id, execution_id: id }
  change.emit({ event: 'execution_cancelled', domainId: domain_id, aggregate: `node:${node_id}`, payload })
}

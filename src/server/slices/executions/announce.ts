import type { Change } from '../../ports/unit-of-work.ts'
import { parametersOf } from './execution.ts'
import type { ExecutionRecord } from './store.ts'

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

/** Sends the cancellation of an execution to the node. */
export function announceCancelled(change: Change, { id, node_id, domain_id }: ExecutionRecord): void {
  const payload = { node_id, execution_id: id }
  change.emit({ event: 'execution_cancelled', domainId: domain_id, aggregate: `node:${node_id}`, payload })
}

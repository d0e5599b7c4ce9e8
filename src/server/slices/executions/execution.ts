import type { executions } from '../../../shared/contract/executions.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import { parametersOf, type ExecutionRecord } from '../../executions/new-execution.ts'

type Answer = Result<(typeof executions)['operations']['GetExecution']>

/** An execution as the API shows it. */
export function toAnswer(execution: ExecutionRecord): Answer {
  const { id, domain_id: _domainId, parameters: _parameters, ...shown } = execution
  return {
    execution_id: id,
    ...shown,
    ...parametersOf(execution),
    requested_at: shown.requested_at.toISOString(),
    expires_at: shown.expires_at.toISOString(),
    started_at: shown.started_at?.toISOString() ?? null,
    finished_at: shown.finished_at?.toISOString() ?? null,
  }
}

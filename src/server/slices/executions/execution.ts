import { canonicalize } from '../../../shared/canonical-json.ts'
import type { executions } from '../../../shared/contract/executions.ts'
import type { Input, Result } from '../../../shared/contract/operation-types.ts'
import type { ExecutionRecord } from './store.ts'

type Operations = (typeof executions)['operations']
type Body = Input<Operations['CreateExecution']>['body']
type Answer = Result<Operations['GetExecution']>

/** The caller, the node and the time of an execution. */
export interface Request {
  readonly id: string
  readonly nodeId: string
  readonly domainId: string
  readonly requestedBy: string
  readonly at: Date
}

/** The row of a new execution. */
export function newExecution(
  { id, nodeId, domainId, requestedBy, at }: Request,
  body: Body & Pick<ExecutionRecord, 'type'>,
): ExecutionRecord {
  return {
    id,
    node_id: nodeId,
    domain_id: domainId,
    action: body.action,
    type: body.type,
    parameters: body.parameters === undefined ? null : canonicalize(body.parameters),
    status: 'pending',
    requested_by: requestedBy,
    requested_at: at,
    expires_at: new Date(at.getTime() + body.expires_in_seconds * 1000),
    started_at: null,
    finished_at: null,
    exit_code: null,
    output: null,
    error: null,
  }
}

/** The parameters of an execution, as a member of an answer or a payload; absent where there are none. */
export function parametersOf({ parameters }: Pick<ExecutionRecord, 'parameters'>): {
  parameters?: Record<string, unknown>
} {
  // What is stored is the canonical text of an object.
  return parameters === null ? {} : { parameters: JSON.parse(parameters) as Record<string, unknown> }
}

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

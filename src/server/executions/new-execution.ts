import type { Selectable } from 'kysely'
import { canonicalize } from '../../shared/canonical-json.ts'
import type { Tables } from '../ports/tables/tables.ts'

export type ExecutionRecord = Selectable<Tables['executions']>

/** The caller, the node and the time of an execution. */
export interface Request {
  readonly id: string
  readonly nodeId: string
  readonly domainId: string
  readonly requestedBy: string
  readonly at: Date
}

/** What a node is asked to run. */
export interface RequestedAction extends Pick<ExecutionRecord, 'action' | 'type'> {
  readonly parameters?: Readonly<Record<string, unknown>> | undefined
  readonly expires_in_seconds: number
}

/** The row of a new execution. */
export function newExecution(
  { id, nodeId, domainId, requestedBy, at }: Request,
  { action, type, parameters, expires_in_seconds: lifetimeSeconds }: RequestedAction,
): ExecutionRecord {
  return {
    id,
    node_id: nodeId,
    domain_id: domainId,
    action,
    type,
    parameters: parameters === undefined ? null : canonicalize(parameters),
    status: 'pending',
    requested_by: requestedBy,
    requested_at: at,
    expires_at: new Date(at.getTime() + lifetimeSeconds * 1000),
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

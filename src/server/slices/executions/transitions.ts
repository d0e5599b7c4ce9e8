import type { executions } from '../../../shared/contract/executions.ts'
import type { Input } from '../../../shared/contract/operation-types.ts'
import type { ExecutionRecord } from '../../executions/new-execution.ts'
import type { Progress, Status } from './store.ts'

/** A node's report about an execution. */
export type Report = Input<(typeof executions)['operations']['PostExecutionCallback']>['body']

/** What a node may report after what (S0 States: Action invocation). An end has nothing after it. */
const NEXT: Readonly<Record<Status, readonly Status[]>> = {
  pending: ['ack'],
  ack: ['started'],
  started: ['succeeded', 'failed', 'cancelled'],
  succeeded: [],
  failed: [],
  cancelled: [],
  timeout: [],
}

/** Whether the status is final. */
export function isEnd(status: Status): boolean {
  return NEXT[status].length === 0
}

/** The statuses that may follow, for an error message. */
export function nextOf(status: Status): string {
  return isEnd(status)
    ? `is ${status}, after which nothing comes`
    : `is ${status}, after which comes ${NEXT[status].join(' or ')}`
}

/**
 * The effect of a node's report on an execution. `repeated`: the status is known already, and nothing changes, not even the output of
 * a final one. `illegal`: the status cannot follow. Output is stored only with a final status.
 */
export function afterReport(
  execution: Pick<ExecutionRecord, 'status' | 'started_at'>,
  report: Report,
  at: Date,
): Progress | 'repeated' | 'illegal' {
  const { status } = report
  if (status === execution.status) return 'repeated'
  if (!NEXT[execution.status].includes(status)) return 'illegal'
  const startedAt = status === 'started' ? at : execution.started_at
  if (!isEnd(status)) return { status, ...UNFINISHED, started_at: startedAt }
  const { exit_code = null, output = null, error = null } = report
  return { status, started_at: startedAt, finished_at: at, exit_code, output, error }
}

const UNFINISHED = { finished_at: null, exit_code: null, output: null, error: null } as const

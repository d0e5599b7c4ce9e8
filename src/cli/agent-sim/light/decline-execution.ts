import { attempt } from '../../../client/agent/calls/attempt.ts'
import type { Callback } from '../../../client/agent/executions/execution.ts'
import type { ActionRequestPayload } from '../../../shared/events/wire-types.ts'
import type { CallingDeps } from '../agent/agent-deps.ts'
import type { LightNode } from './light-node.ts'

const STEPS: readonly Callback[] = [
  { status: 'ack' },
  { status: 'started' },
  { status: 'failed', exit_code: 1, error: 'a light simulated agent runs no executions' },
]
/** The execution has ended: cancelled or expired. */
const OVER = ['execution_not_found', 'illegal_transition']

/** Reports an execution as failed, as an agent does that does not know the action. */
export async function declineExecution(
  deps: CallingDeps,
  node: LightNode,
  { execution_id }: ActionRequestPayload,
): Promise<void> {
  const { node_id: id } = node.identity
  for (const body of STEPS) {
    const outcome = await attempt(deps, node, {
      operation: 'execution',
      isRepeatable: true,
      toleratedCodes: OVER,
      call: (token) => deps.client.PostExecutionCallback({ id, execution_id, body }, { token }),
    })
    if (!outcome.ok) {
      if (OVER.includes(outcome.code)) deps.statistics.count('overtaken')
      return
    }
  }
  deps.statistics.count('executions_failed')
}

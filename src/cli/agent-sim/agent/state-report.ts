import { attempt } from '../attempt.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { AgentDeps } from './agent-deps.ts'
import { injectDuplicates } from './inject-duplicates.ts'

/** Maximum number of reports per node; then the last one is deleted. */
const REPORTS_MAX = 3

/** Puts the next state report of a workload, or deletes the last one if the maximum is reached. */
export async function reportWorkload(deps: AgentDeps, node: SimulatedNode): Promise<void> {
  if (node.reports < REPORTS_MAX) await put(deps, node)
  else await remove(deps, node)
}

async function put(deps: AgentDeps, node: SimulatedNode): Promise<void> {
  const { client, clock } = deps
  node.reports += 1
  const key = `workload.${node.reports}`
  const value = { state: 'running', restarts: Math.floor(clock.random() * 10), seen_at: new Date(clock.now()) }
  const body = { value: { ...value, seen_at: value.seen_at.toISOString() } }
  await injectDuplicates(node, async () => {
    await attempt(deps, node, {
      operation: 'report',
      isRepeatable: true,
      call: (token) => client.PutNodeStateReport({ id: node.identity.node_id, key, body }, { token }),
    })
  })
}

/** Deletes the last report. A repeated deletion may find nothing, because an earlier try succeeded without an answer. */
async function remove(deps: AgentDeps, node: SimulatedNode): Promise<void> {
  const key = `workload.${node.reports}`
  node.reports -= 1
  const outcome = await attempt(deps, node, {
    operation: 'report_deletion',
    isRepeatable: true,
    toleratedCodes: ['report_not_found'],
    call: (token) => deps.client.DeleteNodeStateReport({ id: node.identity.node_id, key }, { token }),
  })
  const isUnknown = !outcome.ok && outcome.code === 'report_not_found' && outcome.tries === 1
  if (isUnknown) deps.statistics.failed('report_deletion', outcome.code)
}

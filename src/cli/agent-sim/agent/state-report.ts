import { attempt } from '../../../client/agent/calls/attempt.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { MeshAgentDeps } from './agent-deps.ts'
import { sendReport } from '../../../client/agent/calls/deferred-reports.ts'
import { injectDuplicates } from './inject-duplicates.ts'

/** Maximum number of reports per node; then the last one is deleted. */
const REPORTS_MAX = 3

/**
 * Puts the next state report of a workload, or deletes the last one if the maximum is reached. Does nothing while the former call
 * runs: the server could take the two in another order.
 */
export async function reportWorkload(deps: MeshAgentDeps, node: SimulatedNode): Promise<void> {
  if (node.isReporting) return
  node.isReporting = true
  try {
    if (node.reports < REPORTS_MAX) await put(deps, node)
    else await remove(deps, node)
  } finally {
    node.isReporting = false
  }
}

async function put(deps: MeshAgentDeps, node: SimulatedNode): Promise<void> {
  node.reports += 1
  const key = `workload.${node.reports}`
  const send = () =>
    attempt(deps, node, {
      operation: 'report',
      isRepeatable: true,
      isDeferred: true,
      call: (token) =>
        deps.client.PutNodeStateReport({ id: node.identity.node_id, key, body: { value: stateOf(deps) } }, { token }),
    })
  await injectDuplicates(node, async () => void (await sendReport(deps, node, { name: key, send })))
}

/** The state of a workload now, as large as `--report-bytes` asks for. */
function stateOf({ clock, mesh }: MeshAgentDeps) {
  const seen_at = new Date(clock.now()).toISOString()
  const value = { restarts: Math.floor(clock.random() * 10), seen_at, state: 'running' }
  const lacking = mesh.habits.reportBytes - JSON.stringify({ log: '', ...value }).length
  return lacking < 0 ? value : { log: '.'.repeat(lacking), ...value }
}

/** Deletes the last report. A repeated deletion may find nothing, because an earlier try succeeded without an answer. */
async function remove(deps: MeshAgentDeps, node: SimulatedNode): Promise<void> {
  const key = `workload.${node.reports}`
  node.reports -= 1
  const wasKept = node.deferred.delete(key)
  const outcome = await attempt(deps, node, {
    operation: 'report_deletion',
    isRepeatable: true,
    toleratedCodes: ['report_not_found'],
    call: (token) => deps.client.DeleteNodeStateReport({ id: node.identity.node_id, key }, { token }),
  })
  const isUnknown = !outcome.ok && outcome.code === 'report_not_found' && outcome.tries === 1 && !wasKept
  if (isUnknown) deps.statistics.failed('report_deletion', outcome.code)
}

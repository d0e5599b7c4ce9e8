import { attempt, OUTAGE } from '../attempt.ts'
import type { Outcome } from '../outcome.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { PulledExecution } from '../snapshot.ts'
import type { MeshAgentDeps } from './agent-deps.ts'
import { addIfNew } from './recently-seen.ts'
import { install, tryUpgrade, wantedVersion, type Upgrade } from './upgrade.ts'

type Callback = Parameters<MeshAgentDeps['client']['PostExecutionCallback']>[0]['body']

/** Maximum duration of an action. */
const WORK_MS_MAX = 500
const BEFORE = { pending: ['ack', 'started'], ack: ['started'], started: [] } as const
/** Time after which a report that got no answer is made again, after the usual tries. */
const REPORT_AGAIN_MS = 5_000
/** Refusals that mean that the execution has ended: cancelled or expired. */
const OVER = ['execution_not_found', 'illegal_transition']

/** Runs an execution once, whether it comes from an event or from a pull. */
export function runExecution(deps: MeshAgentDeps, node: SimulatedNode, execution: PulledExecution): void {
  if (addIfNew(node.seen, execution.execution_id)) deps.tasks.track(run(deps, node, execution))
}

async function run(deps: MeshAgentDeps, node: SimulatedNode, execution: PulledExecution): Promise<void> {
  const { clock, until, statistics } = deps
  const advance = (body: Callback, expects?: string): Promise<boolean> =>
    post(deps, node, { id: execution.execution_id, body, expects })
  // The server refuses a status out of order; the execution then continues in order.
  if (node.faults.repeats === 'reordered' && execution.status === 'pending')
    await advance({ status: 'started' }, 'illegal_transition')
  for (const status of BEFORE[execution.status]) if (!(await advance({ status }))) return
  await clock.pause(clock.random() * WORK_MS_MAX, until)
  const { callback, counted, finish } = await carryOut(deps, node, execution)
  if (!(await advance(callback))) return
  statistics.count(callback.status === 'succeeded' ? 'executions_succeeded' : 'executions_failed')
  if (counted !== undefined) statistics.count(counted)
  await finish?.()
}

/** How an execution ends, and what the agent does once the server knows. */
interface End {
  readonly callback: Callback
  readonly counted?: 'upgrades' | 'upgrades_failed'
  readonly finish?: () => Promise<void>
}

async function carryOut(deps: MeshAgentDeps, node: SimulatedNode, execution: PulledExecution): Promise<End> {
  const version = wantedVersion(execution)
  if (version === undefined) return { callback: endOf(execution, deps.mesh.habits.executionFailures) }
  const upgrade = await tryUpgrade(deps, node, { ...execution, version })
  const callback = endOfUpgrade(upgrade)
  if ('failure' in upgrade) return { callback, counted: 'upgrades_failed' }
  return { callback, counted: 'upgrades', finish: () => install(deps, node, upgrade.binary) }
}

function endOfUpgrade(upgrade: Upgrade): Callback {
  if ('failure' in upgrade) return { status: 'failed', exit_code: 1, error: upgrade.failure }
  return { status: 'succeeded', exit_code: 0, output: `upgraded to ${upgrade.binary.version} by agent-sim\n` }
}

interface Step {
  readonly id: string
  readonly body: Callback
  readonly expects: string | undefined
}

/** Posts a status, twice with the fault `doubled`. Resolves with whether the execution continues. */
async function post(deps: MeshAgentDeps, node: SimulatedNode, step: Step): Promise<boolean> {
  const { expects } = step
  const made = node.faults.repeats === 'doubled' && expects === undefined ? 2 : 1
  for (let times = 0; times < made; times += 1) {
    const outcome = await postUntilAnswered(deps, node, step)
    if (outcome.ok || expects !== undefined) continue
    if (OVER.includes(outcome.code)) deps.statistics.count('overtaken')
    return false
  }
  return true
}

/** Posts a status again while the server cannot be reached or limits the node. That is safe, and without it the execution would stay open until it expires. */
async function postUntilAnswered(
  deps: MeshAgentDeps,
  node: SimulatedNode,
  { id, body, expects }: Step,
): Promise<Outcome<unknown>> {
  for (;;) {
    const outcome = await attempt(deps, node, {
      operation: 'execution',
      isRepeatable: true,
      ...(expects === undefined ? { toleratedCodes: OVER } : { expects }),
      call: (token) =>
        deps.client.PostExecutionCallback({ id: node.identity.node_id, execution_id: id, body }, { token }),
    })
    if (outcome.ok || deps.until.aborted) return outcome
    const pauseMs = outcome.waitMs ?? (OUTAGE.has(outcome.code) ? REPORT_AGAIN_MS : undefined)
    if (pauseMs === undefined) return outcome
    await deps.clock.pause(pauseMs, deps.until)
  }
}

/** The final status, which is always the same for one execution. */
function endOf({ execution_id, action }: PulledExecution, failures: number): Callback {
  const share = Number.parseInt(execution_id.slice(-8), 16) / 2 ** 32
  if (share < failures) return { status: 'failed', exit_code: 1, error: `${action} failed in the simulation` }
  return { status: 'succeeded', exit_code: 0, output: `${action}: done by agent-sim\n` }
}

import type { End, Performer } from '../../../client/agent/executions/execution.ts'
import type { PulledExecution } from '../../../client/agent/state/snapshot.ts'
import type { SimulatedNode } from '../simulated-node.ts'
import type { MeshAgentDeps } from './agent-deps.ts'
import { install, tryUpgrade, wantedVersion, type Upgrade } from './upgrade.ts'

/** Maximum duration of an action. */
const WORK_MS_MAX = 500

/** Simulates actions, and reports them with the faults of the node. */
export function simulatedPerformer(deps: MeshAgentDeps): Performer<SimulatedNode> {
  return {
    async perform(node, execution) {
      await deps.clock.pause(deps.clock.random() * WORK_MS_MAX, deps.until)
      return endOf(deps, node, execution)
    },
    async report({ faults }, body, send) {
      // The server refuses a status out of order; the execution then continues in order.
      if (faults.repeats === 'reordered' && body.status === 'ack')
        await send({ status: 'started' }, 'illegal_transition')
      if (!(await send(body))) return false
      return faults.repeats === 'doubled' ? send(body) : true
    },
  }
}

async function endOf(deps: MeshAgentDeps, node: SimulatedNode, execution: PulledExecution): Promise<End> {
  const version = wantedVersion(execution)
  if (version === undefined) return { callback: drawn(execution, deps.mesh.habits.executionFailures) }
  const upgrade = await tryUpgrade(deps, node, { ...execution, version })
  const callback = endOfUpgrade(upgrade)
  return {
    callback,
    async afterwards() {
      deps.statistics.count('failure' in upgrade ? 'upgrades_failed' : 'upgrades')
      if ('binary' in upgrade) await install(deps, node, upgrade.binary)
    },
  }
}

type Ended = End['callback']

function endOfUpgrade(upgrade: Upgrade): Ended {
  if ('failure' in upgrade) return { status: 'failed', exit_code: 1, error: upgrade.failure }
  return { status: 'succeeded', exit_code: 0, output: `upgraded to ${upgrade.binary.version} by agent-sim\n` }
}

/** The final status, which is always the same for one execution. */
function drawn({ execution_id, action }: PulledExecution, failures: number): Ended {
  const share = Number.parseInt(execution_id.slice(-8), 16) / 2 ** 32
  if (share < failures) return { status: 'failed', exit_code: 1, error: `${action} failed in the simulation` }
  return { status: 'succeeded', exit_code: 0, output: `${action}: done by agent-sim\n` }
}

import { takesPart, type AgentDeps } from './agent/agent-deps.ts'
import { hear, type Heard } from './agent/handle-event.ts'
import { keepReporting } from './agent/heartbeat.ts'
import { start } from './agent/life.ts'
import { keepChores } from './chores.ts'
import { createErrands } from './errands.ts'
import type { FleetDeps } from './fleet-deps.ts'
import { inLanes } from './lanes.ts'
import { createMesh } from './mesh.ts'
import type { NodeWire } from './node-wire.ts'
import type { Habits } from './plan.ts'
import { playScenario } from './scenario/play.ts'
import type { Scenario } from './scenario/scenario.ts'
import type { Standing } from './scenario/stage.ts'
import { settle } from './settling.ts'
import type { SimulatedNode } from './simulated-node.ts'
import type { PullsOver } from './state-pulls.ts'
import { createWheel } from './timer-wheel.ts'

/** How agents that take part in the mesh reach the server, beside the client. */
export interface MeshWire {
  readonly wire: Pick<NodeWire, 'fetchEdgeKey'>
  readonly pulls: PullsOver
}

export interface FleetOptions extends FleetDeps {
  /** Undefined where agents only report heartbeats and hold their streams. */
  readonly mesh: MeshWire | undefined
  readonly habits: Habits
  /** Nodes that it is to have. */
  readonly size: number
}

export interface RunPlan {
  readonly heartbeatIntervalMs: number
  readonly scenario: Scenario | undefined
}

/** What the agents of a fleet do, from the first event that they hear to the last call. */
export interface Acting {
  readonly deps: AgentDeps
  /** Acts upon an event of a node. */
  readonly hear: (node: SimulatedNode, heard: Heard) => void
  readonly run: (plan: RunPlan, until: AbortSignal) => Promise<void>
  readonly settle: (interrupted: AbortSignal) => Promise<void>
}

/** Agents that start at once. */
const START_LANES = 8

/** Lets a fleet act. Its time stands still until the first event is heard or it runs. */
export function createActing(options: FleetOptions, nodes: () => readonly SimulatedNode[]): Acting {
  const { clock, mesh } = options
  const wheel = createWheel(clock)
  const errands = createErrands(wheel)
  const ended = new AbortController()
  const standing: Standing = { rates: {}, outages: 0 }
  const deps: AgentDeps = {
    ...options,
    wheel,
    errands,
    until: ended.signal,
    absent: new Set(),
    isOutage: () => standing.outages > 0,
    mesh: mesh && createMesh({ ...options, ...mesh, nodes }),
  }
  let turning: Promise<void> | undefined
  const turn = (): void => void (turning ??= wheel.turn(ended.signal))

  /** What agents do of their own accord, until the signal. */
  function live({ heartbeatIntervalMs, scenario }: RunPlan, until: AbortSignal): void {
    for (const node of nodes()) keepReporting(deps, node, { intervalMs: heartbeatIntervalMs, until })
    if (takesPart(deps)) {
      const starting = inLanes(nodes(), { concurrency: START_LANES, until }, (node) => start(deps, node, until))
      errands.begin(starting)
      keepChores(deps, nodes(), { until, ratesNow: () => ({ ...options.habits.rates, ...standing.rates }) })
    }
    if (scenario !== undefined) errands.begin(playScenario({ deps, nodes: nodes(), standing }, scenario, until))
  }

  return {
    deps,
    hear(node, heard) {
      turn()
      if (takesPart(deps) && !ended.signal.aborted) hear(deps, node, heard)
    },
    async run(plan, until) {
      turn()
      live(plan, until)
      if (!until.aborted) {
        const end = new Promise<void>((resolve) => until.addEventListener('abort', () => resolve(), { once: true }))
        await Promise.race([end, errands.failed])
      }
    },
    async settle(interrupted) {
      if (takesPart(deps)) await settle(deps, nodes(), interrupted)
      ended.abort()
      errands.drop()
      await errands.done()
    },
  }
}

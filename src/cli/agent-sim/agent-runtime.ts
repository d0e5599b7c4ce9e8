import { takesPart, type SimulatedDeps } from './agent/agent-deps.ts'
import { handleEvent, type ReceivedEvent } from '../../client/agent/events/handle-event.ts'
import { simulatedActions } from './agent/actions.ts'
import { keepReporting } from './agent/heartbeat.ts'
import { startAgent } from './agent/routines.ts'
import { startChores } from './chores.ts'
import { createTaskTracker } from '../../client/agent/tasks/task-tracker.ts'
import type { FleetDeps } from './fleet-deps.ts'
import { runConcurrently } from './run-concurrently.ts'
import { createMesh } from './mesh.ts'
import { createMadeBridges } from './made-bridges.ts'
import type { MeshCalls } from '../../client/agent/agent-deps.ts'
import type { Habits } from './plan.ts'
import { playScenario } from './scenario/play.ts'
import type { Scenario } from './scenario/scenario.ts'
import type { PhaseState } from './scenario/stage.ts'
import { settle } from './settling.ts'
import type { SimulatedNode } from './simulated-node.ts'
import type { PullsOver } from '../../client/agent/state/state-pulls.ts'
import { createTimerWheel } from '../../client/agent/tasks/timer-wheel.ts'

/** How mesh agents call the server. */
export interface MeshWire {
  readonly wire: MeshCalls
  readonly pulls: PullsOver
}

export interface FleetOptions extends FleetDeps {
  /** Undefined with `--no-mesh`: agents only send heartbeats and hold event streams. */
  readonly mesh: MeshWire | undefined
  readonly habits: Habits
  /** Planned number of nodes. */
  readonly size: number
}

export interface RunPlan {
  readonly heartbeatIntervalMs: number
  readonly scenario: Scenario | undefined
}

/** Runs the agents of a fleet, from the first event to the last call. */
export interface AgentRuntime {
  readonly deps: SimulatedDeps
  /** Handles an event of a node. */
  readonly onEvent: (node: SimulatedNode, received: ReceivedEvent) => void
  readonly run: (plan: RunPlan, until: AbortSignal) => Promise<void>
  /** Waits for the open tasks of the agents and compares their state. Starts nothing new afterwards. */
  readonly settle: (interrupted: AbortSignal) => Promise<void>
  /** Deletes the bridges that the simulator made. */
  readonly removeBridges: () => Promise<void>
}

/** Number of agents that start concurrently. */
const START_CONCURRENCY = 8

/** Makes the runtime of a fleet. Its timers start with the first event or with `run`. */
export function createAgentRuntime(options: FleetOptions, nodes: () => readonly SimulatedNode[]): AgentRuntime {
  const { clock, mesh } = options
  const wheel = createTimerWheel(clock)
  const tasks = createTaskTracker(wheel)
  const ended = new AbortController()
  const madeHosts = new Set<string>()
  const phaseState: PhaseState = { rates: {}, outages: 0 }
  const deps: SimulatedDeps = {
    ...options,
    wheel,
    tasks,
    until: ended.signal,
    notProvisioned: new Set(),
    isOutage: () => phaseState.outages > 0,
    actions: simulatedActions(() => deps),
    mesh: mesh && createMesh({ ...options, ...mesh, nodes, isMadeHost: (id) => madeHosts.has(id) }),
  }
  const bridges = takesPart(deps)
    ? createMadeBridges({ deps, nodes, habits: options.habits.bridges, hosts: madeHosts })
    : undefined
  let running: Promise<void> | undefined
  const startTimers = (): void => void (running ??= wheel.run(ended.signal))

  /** Starts the periodic work of the agents, until the signal is aborted. */
  function startAgents({ heartbeatIntervalMs, scenario }: RunPlan, until: AbortSignal): void {
    for (const node of nodes()) keepReporting(deps, node, { intervalMs: heartbeatIntervalMs, until })
    if (takesPart(deps) && bridges !== undefined) {
      if (options.habits.bridges.count > 0) tasks.track(bridges.create())
      const starting = runConcurrently(nodes(), { concurrency: START_CONCURRENCY, until }, (node) =>
        startAgent(deps, node, until),
      )
      tasks.track(starting)
      startChores(deps, nodes(), { until, bridges, ratesNow: () => ({ ...options.habits.rates, ...phaseState.rates }) })
    }
    if (scenario !== undefined) tasks.track(playScenario({ deps, nodes: nodes(), phaseState }, scenario, until))
  }

  return {
    deps,
    onEvent(node, received) {
      startTimers()
      if (takesPart(deps) && !ended.signal.aborted) handleEvent(deps, node, received)
    },
    async run(plan, until) {
      startTimers()
      startAgents(plan, until)
      if (!until.aborted) {
        const end = new Promise<void>((resolve) => until.addEventListener('abort', () => resolve(), { once: true }))
        await Promise.race([end, tasks.failed])
      }
    },
    async settle(interrupted) {
      if (takesPart(deps) && bridges !== undefined) {
        await settle(deps, { nodes: nodes(), bridges }, interrupted)
        deps.statistics.count('outdated', nodes().filter((node) => deps.mesh.wanted.isOutdated(node)).length)
      }
      ended.abort()
      tasks.cancelScheduled()
      await tasks.done()
    },
    removeBridges: async () => bridges?.remove(),
  }
}

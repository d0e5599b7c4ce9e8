import { takesPart, type SimulatedDeps } from './agent/agent-deps.ts'
import { holdStream } from '../../client/agent/events/event-stream-holder.ts'
import { handleEvent, type ReceivedEvent } from '../../client/agent/events/handle-event.ts'
import { simulatedActions } from './agent/actions.ts'
import { keepReporting } from './agent/heartbeat.ts'
import { startAgent, startChore } from './agent/routines.ts'
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
import { simulatedNode, stopStreams, type FleetNode, type SimulatedNode } from './simulated-node.ts'
import type { NodeIdentity } from './state-directory.ts'
import type { PullsOver } from '../../client/agent/state/state-pulls.ts'
import { createTimerWheel } from '../../client/agent/tasks/timer-wheel.ts'

/** How mesh agents call the server. */
export interface MeshWire {
  readonly wire: MeshCalls
  readonly pulls: PullsOver
}

export interface AgentOptions extends FleetDeps {
  /** Undefined with `--no-mesh`: agents only send heartbeats and hold event streams. */
  readonly mesh: MeshWire | undefined
  readonly habits: Habits
  /** Planned number of nodes of one Domain. */
  readonly size: number
}

export interface RunPlan {
  readonly heartbeatIntervalMs: number
  readonly scenario: Scenario | undefined
}

/** The agents of a fleet, from the first event to the last call. Full ones and light ones have a runtime each. */
export interface AgentRuntime {
  /** The nodes, in the order of joining. */
  nodes(): readonly FleetNode[]
  /** Adds a node with its agent. */
  add(identity: NodeIdentity): void
  /** Forgets all nodes. */
  clear(): void
  /** Requests the event stream of the node at that index. Resolves after the first try: a refused stream is tried again later. */
  open(index: number): Promise<void>
  run(plan: RunPlan, until: AbortSignal): Promise<void>
  /** Waits for the open tasks of the agents and compares their state. Starts nothing new afterwards. */
  settle(interrupted: AbortSignal): Promise<void>
  /** Ends the event streams. */
  disconnect(): Promise<void>
  /** Deletes the bridges that the simulator made. */
  removeBridges(): Promise<void>
}

/** Number of agents that start concurrently. */
const START_CONCURRENCY = 8

/** Makes the runtime of a fleet. Its timers start with the first event or with `run`. */
export function createAgentRuntime(options: AgentOptions): AgentRuntime {
  const { clock, mesh, streams, habits } = options
  let members: SimulatedNode[] = []
  const nodes = (): readonly SimulatedNode[] => members
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
    ? createMadeBridges({ deps, nodes, habits: habits.bridges, hosts: madeHosts })
    : undefined
  let running: Promise<void> | undefined
  const startTimers = (): void => void (running ??= wheel.run(ended.signal))

  /** Starts the periodic work of the agents, until the signal is aborted. */
  function startAgents({ heartbeatIntervalMs, scenario }: RunPlan, until: AbortSignal): void {
    for (const node of nodes()) keepReporting(deps, node, { intervalMs: heartbeatIntervalMs, until })
    if (takesPart(deps) && bridges !== undefined) {
      if (habits.bridges.count > 0) tasks.track(bridges.create())
      const starting = runConcurrently(nodes(), { concurrency: START_CONCURRENCY, until }, (node) =>
        startAgent(deps, node, until),
      )
      tasks.track(starting)
      startChores(wheel, {
        until,
        ratesNow: () => ({ ...habits.rates, ...phaseState.rates }),
        populationOf: (name) => (name === 'bridge_changes' ? bridges.size() : members.length),
        start: (name) => startChore(deps, { name, nodes: members, bridges }),
      })
    }
    if (scenario !== undefined) tasks.track(playScenario({ deps, nodes: nodes(), phaseState }, scenario, until))
  }

  const onEvent = (node: SimulatedNode, received: ReceivedEvent): void => {
    startTimers()
    if (takesPart(deps) && !ended.signal.aborted) handleEvent(deps, node, received)
  }

  return {
    nodes,
    add: (identity) => void members.push(simulatedNode(identity, members.length, habits.binaries)),
    clear() {
      members = []
    },
    async open(index) {
      const node = members[index]
      if (node === undefined || streams === undefined) return
      node.stream = holdStream({ ...deps, streams, onEvent }, node)
      await node.stream.firstTry
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
    disconnect: () => stopStreams(members),
    removeBridges: async () => bridges?.remove(),
  }
}

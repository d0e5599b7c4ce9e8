import type { Progress } from './dashboard.ts'
import { failed } from './fail-on.ts'
import type { MeshWire } from './agent-runtime.ts'
import { createFleet, type Fleet, type JoinToken } from './fleet.ts'
import type { LightWire } from './light/light-wire.ts'
import type { AgentClock } from '../../client/agent/agent-clock.ts'
import type { ApiClient } from '../../client/agent/agent-deps.ts'
import type { NodeStreams } from '../../client/agent/events/node-streams.ts'
import type { SimulationPlan } from './plan.ts'
import type { StateDirectory } from './state-directory.ts'
import { stillEnrolled } from './still-enrolled.ts'
import { createStatistics, type Statistics, type Summary } from './statistics.ts'

export interface SimulationDeps {
  readonly client: ApiClient
  /** Undefined with `--no-events`. */
  readonly streams?: NodeStreams | undefined
  /** Undefined with `--no-mesh`: agents only send heartbeats and hold event streams. */
  readonly mesh?: MeshWire | undefined
  /** Undefined for full agents. */
  readonly light?: LightWire | undefined
  /** URL of the server, to which a stored fleet belongs. */
  readonly url: string
  readonly clock: AgentClock
  /** Aborted by Ctrl-C: the run starts nothing new, ends cleanly and prints its summary. */
  readonly signal: AbortSignal
  readonly stateDirectory: StateDirectory | undefined
  /** Mints or reads a join token for this number of nodes. */
  readonly joinToken: (uses: number) => Promise<JoinToken>
  /** Called with the progress once a second and at the end. */
  readonly observe: (progress: Progress, summary: Summary) => void
}

export interface SimulationResult {
  readonly summary: Summary
  readonly failedConditions: readonly string[]
  /** Registered nodes at the end, and how many of them are known to be ephemeral. */
  readonly nodes: number
  readonly ephemeralNodes: number
  /** Nodes of the state directory that the server refused. They were replaced by new ones. */
  readonly goneNodes: number
  readonly interrupted: boolean
}

const OBSERVE_EVERY_MS = 1000

/**
 * Runs a plan: registers or resumes the nodes, runs them for the duration, and optionally deregisters them.
 *
 * @throws the last refusal if there is no node to resume and none could be registered.
 */
export async function simulate(plan: SimulationPlan, deps: SimulationDeps): Promise<SimulationResult> {
  const statistics = createStatistics()
  const { client, clock, streams, mesh, light } = deps
  const fleet = createFleet({ client, clock, statistics, streams, mesh, light, habits: plan.habits, size: plan.nodes })
  const observer = observing({ plan, deps, fleet, summary: () => statistics.summary() })
  let goneNodes = 0
  try {
    goneNodes = await observer.during('registering', () => assemble(fleet, plan, deps))
    await store(fleet, deps)
    await runPhases(observer, fleet, { plan, deps, statistics })
    if (plan.deregister) await observer.during('deregistering', () => fleet.deregister(plan.concurrency))
    await store(fleet, deps)
  } finally {
    observer.stop()
    await fleet.disconnect()
  }
  const summary = statistics.summary()
  return {
    summary,
    failedConditions: failed(plan.failOn, summary),
    nodes: fleet.size(),
    ephemeralNodes: fleet.identities().filter(({ is_ephemeral }) => is_ephemeral === true).length,
    goneNodes,
    interrupted: deps.signal.aborted,
  }
}

/** Opens the streams, runs the agents for the duration, and compares their state at the end. */
async function runPhases(observer: Observer, fleet: Fleet, { plan, deps, statistics }: Played): Promise<void> {
  const hasStreams = deps.streams !== undefined
  if (hasStreams) await observer.during('connecting', () => connect(fleet, plan, deps))
  await observer.during('running', () => runFor(fleet, { plan, deps, statistics }))
  await observer.during('settling', () => fleet.settle(deps.signal))
  if (hasStreams) await observer.during('comparing', () => fleet.confirm(deps.signal))
  await fleet.disconnect()
}

/**
 * Resumes stored nodes and registers the missing ones. Resolves with the number of stored nodes that the server
 * refused.
 */
async function assemble(fleet: Fleet, plan: SimulationPlan, deps: SimulationDeps): Promise<number> {
  const { client, clock, signal } = deps
  const stored = ((await deps.stateDirectory?.load(deps.url)) ?? []).slice(0, plan.nodes)
  fleet.resume(await stillEnrolled(stored, { client, clock, concurrency: plan.concurrency, until: signal }))
  const gone = stored.length - fleet.size()
  const missing = plan.nodes - fleet.size()
  if (missing === 0) return gone
  const prefix = `sim-${Math.floor(deps.clock.random() * 36 ** 5)
    .toString(36)
    .padStart(5, '0')}`
  const names = Array.from({ length: missing }, (_, index) => `${prefix}-${index + 1}`)
  await fleet.register({
    joinToken: await deps.joinToken(missing),
    names,
    concurrency: plan.concurrency,
    until: deps.signal,
  })
  return gone
}

/** Stores the fleet. Called after assembly, so that a crash loses no node, and at the end. */
async function store(fleet: Fleet, { stateDirectory, url }: SimulationDeps): Promise<void> {
  await stateDirectory?.save(url, fleet.identities())
}

/**
 * Maximum wait for streams to open, in addition to a millisecond per node. The run then goes on; failed streams are
 * counted.
 */
const CONNECT_MS_MAX = 60_000

async function connect(fleet: Fleet, { nodes }: SimulationPlan, { clock, signal }: SimulationDeps): Promise<void> {
  const done = new AbortController()
  const until = AbortSignal.any([signal, done.signal])
  const timeout = clock.pause(CONNECT_MS_MAX + nodes, until)
  await Promise.race([fleet.connect(signal), timeout])
  done.abort()
}

interface Played {
  readonly plan: SimulationPlan
  readonly deps: SimulationDeps
  readonly statistics: Statistics
}

async function runFor(fleet: Fleet, { plan, deps, statistics }: Played): Promise<void> {
  const ended = new AbortController()
  const until = AbortSignal.any([deps.signal, ended.signal])
  const running = fleet.run(plan, until)
  if (plan.warmUpMs > 0) {
    await deps.clock.pause(plan.warmUpMs, deps.signal)
    statistics.resetLatencies()
  }
  await deps.clock.pause(plan.durationMs - plan.warmUpMs, deps.signal)
  ended.abort()
  await running
}

interface Watched {
  readonly plan: SimulationPlan
  readonly deps: SimulationDeps
  readonly fleet: Fleet
  readonly summary: () => Summary
}

type Observer = ReturnType<typeof observing>

/** Reports the progress once a second, and at the end. */
function observing({ plan, deps, fleet, summary }: Watched) {
  let phase: Progress['phase'] = 'registering'
  let phaseStartedMs = performance.now()
  let operationsBefore = 0
  const report = (): void => {
    const now = summary()
    const operations = now.counts['operations'] ?? 0
    deps.observe(
      {
        phase,
        nodes: fleet.size(),
        nodesWanted: plan.nodes,
        elapsedSeconds: (performance.now() - phaseStartedMs) / 1000,
        durationSeconds: plan.durationMs / 1000,
        reachability: phase === 'running' ? fleet.reachability() : undefined,
        operationsPerSecond: operations - operationsBefore,
      },
      now,
    )
    operationsBefore = operations
  }
  const timer = setInterval(report, OBSERVE_EVERY_MS)
  return {
    async during<T>(next: Progress['phase'], work: () => Promise<T>): Promise<T> {
      phase = next
      phaseStartedMs = performance.now()
      return work()
    },
    stop(): void {
      clearInterval(timer)
      phase = 'done'
      report()
    },
  }
}

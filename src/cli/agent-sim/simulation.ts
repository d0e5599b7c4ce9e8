import type { Progress } from './dashboard.ts'
import { failed } from './fail-on.ts'
import type { MeshWire } from './acting.ts'
import { createFleet, type Fleet, type JoinToken } from './fleet.ts'
import type { AgentClock, ApiClient } from './fleet-deps.ts'
import type { NodeStreams } from './node-streams.ts'
import type { SimulationPlan } from './plan.ts'
import type { StateDirectory } from './state-directory.ts'
import { stillEnrolled } from './still-enrolled.ts'
import { createStatistics, type Statistics, type Summary } from './statistics.ts'

export interface SimulationDeps {
  readonly client: ApiClient
  /** Undefined where agents hold no event streams. */
  readonly streams?: NodeStreams | undefined
  /** Undefined where agents only report heartbeats and hold their streams. */
  readonly mesh?: MeshWire | undefined
  /** The server's URL, which a kept fleet is bound to. */
  readonly url: string
  readonly clock: AgentClock
  /** Aborted by Ctrl-C: the run ends cleanly, says what it did, and nothing new is begun. */
  readonly signal: AbortSignal
  readonly stateDirectory: StateDirectory | undefined
  /** A join token for so many nodes, minted or read. */
  readonly joinToken: (uses: number) => Promise<JoinToken>
  /** Told of the standing once a second and at each change of phase. */
  readonly observe: (progress: Progress, summary: Summary) => void
}

export interface SimulationResult {
  readonly summary: Summary
  readonly failedConditions: readonly string[]
  /** Left at the end; and how many of those are known to go by themselves. */
  readonly nodes: number
  readonly ephemeralNodes: number
  /** Nodes of the state directory that the server had no longer: others were enrolled in their place. */
  readonly goneNodes: number
  readonly interrupted: boolean
}

const OBSERVE_EVERY_MS = 1000

/**
 * Runs a plan: enrols or takes over the nodes, lets them report for the duration, and leaves or removes them.
 *
 * @throws the last refusal where no node could be enrolled, and there is none to take over.
 */
export async function simulate(plan: SimulationPlan, deps: SimulationDeps): Promise<SimulationResult> {
  const statistics = createStatistics()
  const { client, clock, streams, mesh } = deps
  const fleet = createFleet({ client, clock, statistics, streams, mesh, habits: plan.habits, size: plan.nodes })
  const observer = observing({ plan, deps, fleet, summary: () => statistics.summary() })
  let goneNodes = 0
  try {
    goneNodes = await observer.during('registering', () => assemble(fleet, plan, deps))
    await keep(fleet, deps)
    await play(observer, fleet, { plan, deps, statistics })
    if (plan.deregister) await observer.during('deregistering', () => fleet.deregister(plan.concurrency))
    await keep(fleet, deps)
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

/** What the agents do for the duration, around it the beginning and the end of their streams. */
async function play(observer: Observer, fleet: Fleet, { plan, deps, statistics }: Played): Promise<void> {
  const hasStreams = deps.streams !== undefined
  if (hasStreams) await observer.during('connecting', () => connect(fleet, plan, deps))
  await observer.during('running', () => runFor(fleet, { plan, deps, statistics }))
  await observer.during('settling', () => fleet.settle(deps.signal))
  if (hasStreams) await observer.during('comparing', () => fleet.confirm(deps.signal))
  await fleet.disconnect()
}

/** Answers how many of the nodes that were kept are gone. */
async function assemble(fleet: Fleet, plan: SimulationPlan, deps: SimulationDeps): Promise<number> {
  const { client, clock, signal } = deps
  const kept = ((await deps.stateDirectory?.load(deps.url)) ?? []).slice(0, plan.nodes)
  fleet.resume(await stillEnrolled(kept, { client, clock, concurrency: plan.concurrency, until: signal }))
  const gone = kept.length - fleet.size()
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

/** Stores the fleet: once it is assembled, so that a crash of the run loses no node, and when nodes have left. */
async function keep(fleet: Fleet, { stateDirectory, url }: SimulationDeps): Promise<void> {
  await stateDirectory?.save(url, fleet.identities())
}

/** Beside a millisecond for each node. A server that accepts no streams is not waited for: what they meet is counted. */
const CONNECT_MS_MAX = 60_000

async function connect(fleet: Fleet, { nodes }: SimulationPlan, { clock, signal }: SimulationDeps): Promise<void> {
  const done = new AbortController()
  const until = AbortSignal.any([signal, done.signal])
  const late = clock.pause(CONNECT_MS_MAX + nodes, until)
  await Promise.race([fleet.connect(signal), late])
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
    statistics.forgetLatencies()
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

/** Tells the observer of each phase, once a second while it lasts. */
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

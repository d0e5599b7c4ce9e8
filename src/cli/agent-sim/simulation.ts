import type { Progress } from './dashboard.ts'
import { failed } from './fail-on.ts'
import type { MeshWire } from './agent-runtime.ts'
import { createFleet, type Fleet, type JoinToken } from './fleet.ts'
import type { LightWire } from './light/light-wire.ts'
import type { AgentClock } from '../../client/agent/agent-clock.ts'
import type { ApiClient } from '../../client/agent/agent-deps.ts'
import type { NodeStreams } from '../../client/agent/events/node-streams.ts'
import type { SimulationPlan } from './plan.ts'
import type { NodeIdentity, StateDirectory } from './state-directory.ts'
import { stillEnrolled } from './still-enrolled.ts'
import { createStatistics, type Statistics, type StatisticsRecord, type Summary } from './statistics.ts'
import { createGeneratorWatch, type GeneratorLoad, type GeneratorWatch } from './generator-load.ts'
import { runConcurrently } from './run-concurrently.ts'
import type { DomainShare } from './workers/shares.ts'

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
  /** Mints or reads a join token for this number of nodes of a Domain. */
  readonly joinToken: (uses: number, domain: string | undefined) => Promise<JoinToken>
  /** Resolves when the agents may start; at once by default. */
  readonly ready?: () => Promise<void>
  /** Called with the progress once a second and at the end. `record`: the statistics for another process. */
  readonly observe: (progress: Progress, summary: Summary, record: () => StatisticsRecord) => void
}

export interface SimulationResult {
  readonly summary: Summary
  readonly failedConditions: readonly string[]
  /** Registered nodes at the end, and how many of them are known to be ephemeral. */
  readonly nodes: number
  readonly ephemeralNodes: number
  /** Nodes of the state directory that the server refused. They were replaced by new ones. */
  readonly goneNodes: number
  /** Planned nodes that could not be registered. */
  readonly unregisteredNodes: number
  /** Nodes that were to be deregistered at the end and could not be. */
  readonly leftNodes: number
  readonly interrupted: boolean
}

/** The result of one process. */
export interface MeasuredResult extends SimulationResult {
  readonly record: StatisticsRecord
}

const OBSERVE_EVERY_MS = 1000

/**
 * Runs a plan: registers or resumes the nodes, runs them for the duration, and optionally deregisters them.
 *
 * @throws the last refusal if there is no node to resume and none could be registered.
 */
export async function simulate(plan: SimulationPlan, deps: SimulationDeps): Promise<MeasuredResult> {
  const statistics = createStatistics()
  const generator = createGeneratorWatch()
  const fleet = fleetOf(plan, deps, statistics)
  const summaryNow = (): Summary => withLoad(statistics.summary(), generator.now())
  const observer = observing({ plan, deps, fleet, statistics, summary: summaryNow })
  let missing: MissingNodes = { goneNodes: 0, unregisteredNodes: 0, leftNodes: 0 }
  try {
    missing = await play(observer, fleet, { plan, deps, statistics, generator })
  } finally {
    generator.stop()
    observer.stop()
    await fleet.disconnect()
  }
  const summary = summaryNow()
  const failedConditions = failed(plan.failOn, summary)
  const interrupted = deps.signal.aborted
  return { summary, record: statistics.record(), failedConditions, ...sizesOf(fleet), ...missing, interrupted }
}

function sizesOf(fleet: Fleet): Pick<SimulationResult, 'nodes' | 'ephemeralNodes'> {
  const ephemeralNodes = fleet.identities().filter(({ is_ephemeral }) => is_ephemeral === true).length
  return { nodes: fleet.size(), ephemeralNodes }
}

type MissingNodes = Pick<SimulationResult, 'goneNodes' | 'unregisteredNodes' | 'leftNodes'>

/** Runs the plan from the first registration to the last call. */
async function play(observer: Observer, fleet: Fleet, played: Played): Promise<MissingNodes> {
  const { plan, deps } = played
  const goneNodes = await observer.during('registering', () => assemble(fleet, plan, deps))
  const unregisteredNodes = Math.max(0, plan.nodes - fleet.size())
  await store(fleet, deps)
  await deps.ready?.()
  const leftNodes = await runPhases(observer, fleet, played)
  await store(fleet, deps)
  return { goneNodes, unregisteredNodes, leftNodes }
}

/**
 * Opens the streams, runs the agents for the duration, and compares their state at the end. Resolves with the number of nodes that could
 * not be deregistered.
 */
async function runPhases(observer: Observer, fleet: Fleet, played: Played): Promise<number> {
  const { plan, deps } = played
  const hasStreams = deps.streams !== undefined
  if (hasStreams) await observer.during('connecting', () => connect(fleet, plan, deps))
  await observer.during('running', () => runFor(fleet, played))
  await observer.during('settling', () => fleet.settle(deps.signal))
  if (hasStreams) await observer.during('comparing', () => fleet.confirm(deps.signal))
  await fleet.disconnect()
  return plan.deregister ? observer.during('deregistering', () => fleet.deregister(plan.concurrency)) : 0
}

function fleetOf(plan: SimulationPlan, deps: SimulationDeps, statistics: Statistics): Fleet {
  const { client, clock, streams, mesh, light } = deps
  const size = largestDomain(plan)
  return createFleet({ client, clock, statistics, streams, mesh, light, habits: plan.habits, size })
}

/** Number of Domains that are enrolled in at a time. */
const DOMAIN_CONCURRENCY = 4

/**
 * Resumes stored nodes and registers the missing ones. Resolves with the number of stored nodes that the server
 * refused.
 */
async function assemble(fleet: Fleet, plan: SimulationPlan, deps: SimulationDeps): Promise<number> {
  const { client, clock, signal } = deps
  const domains = domainsOf(plan)
  const stored = wanted((await deps.stateDirectory?.load(deps.url)) ?? [], domains)
  const enrolled = await stillEnrolled(stored, { client, clock, concurrency: plan.concurrency, until: signal })
  fleet.resume(enrolled)
  const prefix = `sim-${Math.floor(clock.random() * 36 ** 5)
    .toString(36)
    .padStart(5, '0')}`
  let named = 0
  let failure: unknown
  await runConcurrently(domains, { concurrency: DOMAIN_CONCURRENCY, until: signal }, async (domain) => {
    const missing = domain.nodes - storedOf(enrolled, domain, domains).length
    if (missing <= 0) return
    const names = Array.from({ length: missing }, () => `${prefix}-${(named += 1)}`)
    const joinToken = await deps.joinToken(missing, domain.id)
    const terms = { joinToken, names, concurrency: plan.concurrency, until: signal }
    await fleet.register(terms).catch((error: unknown) => (failure ??= error))
  })
  if (failure !== undefined && fleet.size() === 0) throw failure
  return stored.length - enrolled.length
}

/** The stored nodes that the plan has room for. */
function wanted(stored: readonly NodeIdentity[], domains: readonly DomainShare[]): readonly NodeIdentity[] {
  return domains.flatMap((domain) => storedOf(stored, domain, domains).slice(0, domain.nodes))
}

/** Those of a Domain. Nodes of an earlier version, which has not stored which, are of the only one. */
function storedOf(
  stored: readonly NodeIdentity[],
  { id }: DomainShare,
  domains: readonly DomainShare[],
): readonly NodeIdentity[] {
  const unnamed = domains.length === 1 ? id : undefined
  return stored.filter(({ domain_id: domain = unnamed }) => id === undefined || domain === id)
}

function domainsOf({ nodes, domains = [{ id: undefined, nodes }] }: SimulationPlan): readonly DomainShare[] {
  return domains
}

function largestDomain(plan: SimulationPlan): number {
  return Math.max(...domainsOf(plan).map(({ nodes }) => nodes))
}

function withLoad(summary: Summary, generator: GeneratorLoad | undefined): Summary {
  return generator === undefined ? summary : { ...summary, generator }
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
  readonly generator: GeneratorWatch
}

async function runFor(fleet: Fleet, { plan, deps, statistics, generator }: Played): Promise<void> {
  const ended = new AbortController()
  const until = AbortSignal.any([deps.signal, ended.signal])
  const running = fleet.run(plan, until)
  if (plan.warmUpMs > 0) {
    await deps.clock.pause(plan.warmUpMs, deps.signal)
    statistics.resetLatencies()
  }
  generator.start()
  await deps.clock.pause(plan.durationMs - plan.warmUpMs, deps.signal)
  generator.stop()
  ended.abort()
  await running
}

interface Watched {
  readonly plan: SimulationPlan
  readonly deps: SimulationDeps
  readonly fleet: Fleet
  readonly statistics: Statistics
  readonly summary: () => Summary
}

type Observer = ReturnType<typeof observing>

/** Reports the progress once a second, and at the end. */
function observing({ plan, deps, fleet, statistics, summary }: Watched) {
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
      () => statistics.record(),
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

import { readFile } from 'node:fs/promises'
import { usageError } from '../errors/cli-error.ts'
import { bounded } from './bounded.ts'
import type { FlagSpecs, FlagValues } from '../argv/flags.ts'
import { BINARY_FLAGS, binariesOf, upgradesOf } from './binary-flags.ts'
import { parseFailOn } from './fail-on.ts'
import { assertLightFlags, LOAD_FLAGS } from './load-flags.ts'
import { PLAN_MAX, DEFAULT_HABITS, type Habits, type SimulationPlan } from './plan.ts'
import type { Rates } from './scenario/rates.ts'
import { readScenario } from './scenario/read-scenario.ts'
import { durationMsOf, type Scenario } from './scenario/scenario.ts'
import { MEASURES } from './statistics.ts'
import { YamlFault } from './scenario/yaml-place.ts'
import { parseRate } from './shares.ts'

export const SIMULATION_FLAGS = {
  nodes: { kind: 'integer', short: 'n', value: 'N', describe: 'Number of simulated nodes', fallback: '10' },
  duration: {
    kind: 'duration',
    describe: 'Duration of the run after registration; with a scenario, by default that of its phases',
    fallback: '60s',
  },
  'warm-up': {
    kind: 'duration',
    describe: 'Warm-up time at the start of the run, excluded from latency statistics',
    fallback: '0s',
  },
  'heartbeat-interval': { kind: 'duration', describe: 'Time between two heartbeats of a node', fallback: '30s' },
  domain: {
    kind: 'list',
    value: 'A,B',
    noun: 'domains',
    describe: 'Domains that the nodes join, in equal parts; by default your own',
  },
  'join-token-file': {
    kind: 'text',
    value: 'FILE',
    describe: 'Join with the token in this file instead of minting one',
  },
  'state-dir': {
    kind: 'text',
    value: 'DIR',
    describe: 'Store the nodes in this directory, and resume those of the previous run',
  },
  scenario: { kind: 'text', value: 'FILE', describe: 'Play the phases and faults in this YAML file' },
  edges: {
    kind: 'integer',
    value: 'N',
    describe: 'Sampled edges of each node: both ends fetch and compare their keys',
    fallback: '4',
  },
  'endpoint-changes': {
    kind: 'text',
    value: 'RATE',
    describe: 'Share of the nodes whose address changes',
    fallback: '1%/min',
  },
  pulls: {
    kind: 'text',
    value: 'RATE',
    describe: 'Share of the nodes that pull their state without a request of the server',
    fallback: '1%/min',
  },
  reports: {
    kind: 'text',
    value: 'RATE',
    describe: 'Share of the nodes that put or delete a state report',
    fallback: '5%/min',
  },
  'report-bytes': {
    kind: 'integer',
    value: 'N',
    describe: 'Size of the value of these reports, up to 4096, e.g. to exceed the ingest target of the Domain',
    fallback: '0',
  },
  bridges: {
    kind: 'integer',
    value: 'N',
    describe: 'Bridges that the simulator makes with your credential, in a Project of their own',
    fallback: '0',
  },
  'bridge-hosts': { kind: 'integer', value: 'N', describe: 'Hosts of each of these bridges', fallback: '2' },
  'bridge-changes': {
    kind: 'text',
    value: 'RATE',
    describe: 'Share of these bridges that are changed',
    fallback: '50%/min',
  },
  violations: {
    kind: 'text',
    value: 'RATE',
    describe: 'Share of the nodes of which a hook is altered for up to five minutes; each reports it every minute',
    fallback: '0.1%/min',
  },
  ...BINARY_FLAGS,
  ...LOAD_FLAGS,
  'no-events': { kind: 'switch', describe: 'Hold no event streams' },
  'no-mesh': { kind: 'switch', describe: 'Only heartbeats and event streams: no endpoints, pulls, keys, executions' },
  deregister: { kind: 'switch', describe: 'Deregister the nodes at the end' },
  'fail-on': {
    kind: 'text',
    value: 'CONDITIONS',
    describe:
      "Exit 10 if a condition is true at the end, e.g. 'p99(heartbeat)>50ms,errors>0,missed_events>0,edge_mismatches>0'",
  },
  concurrency: { kind: 'integer', value: 'N', describe: 'Concurrent registrations', fallback: '16' },
} as const satisfies FlagSpecs

export type SimulationFlags = FlagValues<typeof SIMULATION_FLAGS>

/** Makes the plan of a run. Flags override the scenario. @throws CliError for an invalid flag or scenario. */
export async function planOf(flags: SimulationFlags): Promise<SimulationPlan> {
  assertLightFlags(flags)
  const scenario = flags.scenario === undefined ? undefined : await scenarioIn(flags.scenario)
  return {
    nodes: bounded('--nodes', flags.nodes ?? 10, { min: 1, max: PLAN_MAX.nodes }),
    ...timesOf(flags, scenario),
    deregister: flags.deregister ?? false,
    concurrency: bounded('--concurrency', flags.concurrency ?? 16, { min: 1, max: PLAN_MAX.concurrency }),
    failOn: withUsageError(() => parseFailOn(flags['fail-on'] ?? '', MEASURES)),
    habits: habitsOf(flags, scenario),
    scenario,
  }
}

function timesOf(
  { duration, 'warm-up': warmUp = 0, 'heartbeat-interval': interval = 30 }: SimulationFlags,
  scenario: Scenario | undefined,
): Pick<SimulationPlan, 'durationMs' | 'warmUpMs' | 'heartbeatIntervalMs'> {
  const durationMs = duration === undefined ? defaultMs(scenario) : timerMs('--duration', duration)
  const warmUpMs = warmUp * 1000
  if (warmUpMs > 0 && warmUpMs >= durationMs) throw usageError('--warm-up takes less than --duration')
  return { durationMs, warmUpMs, heartbeatIntervalMs: timerMs('--heartbeat-interval', interval) }
}

/** Node.js timers with more than 2^31 ms, about 24 days, end at once. */
const TIMER_SECONDS = { min: 0.1, max: 24 * 86_400 } as const

function timerMs(flag: string, seconds: number): number {
  if (seconds < TIMER_SECONDS.min || seconds > TIMER_SECONDS.max)
    throw usageError(`${flag} takes a duration from 0.1s to 24d`)
  return seconds * 1000
}

function defaultMs(scenario: Scenario | undefined): number {
  return scenario === undefined ? 60_000 : durationMsOf(scenario)
}

const RATE_FLAGS = ['endpoint-changes', 'pulls', 'reports', 'violations', 'bridge-changes'] as const

function habitsOf(flags: SimulationFlags, scenario: Scenario | undefined): Habits {
  const typed = RATE_FLAGS.flatMap((flag): [string, number][] => {
    const text = flags[flag]
    return text === undefined ? [] : [[flag.replace('-', '_'), rateOf(flag, text)]]
  })
  // The keys are names of rates.
  const rates = Object.fromEntries(typed) as Partial<Rates>
  const edges = flags.edges ?? scenario?.edges ?? DEFAULT_HABITS.edges
  return {
    edges: bounded('--edges', edges, { min: 0, max: PLAN_MAX.edges }),
    rates: { ...DEFAULT_HABITS.rates, ...scenario?.rates, ...rates },
    reportBytes: bounded('--report-bytes', flags['report-bytes'] ?? 0, { min: 0, max: PLAN_MAX.reportBytes }),
    executionFailures: scenario?.executionFailures ?? DEFAULT_HABITS.executionFailures,
    ...upgradesOf(flags, scenario),
    binaries: binariesOf(flags, scenario),
    bridges: bridgesOf(flags),
  }
}

function bridgesOf({ bridges = 0, 'bridge-hosts': hosts = 2 }: SimulationFlags): Habits['bridges'] {
  return {
    count: bounded('--bridges', bridges, { min: 0, max: PLAN_MAX.bridges }),
    hosts: bounded('--bridge-hosts', hosts, { min: 1, max: PLAN_MAX.bridgeHosts }),
  }
}

function rateOf(flag: string, text: string): number {
  const rate = parseRate(text)
  if (rate === undefined) throw usageError(`--${flag} takes a rate such as 1%/min or 5%/s`)
  return rate
}

async function scenarioIn(file: string): Promise<Scenario> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw usageError(`--scenario: ${file} cannot be read (${error instanceof Error ? error.message : String(error)})`)
  })
  try {
    return readScenario(text)
  } catch (error) {
    if (error instanceof YamlFault) throw usageError(`${file}:${error.line}: ${error.message}`)
    throw error
  }
}

function withUsageError<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw usageError(error instanceof Error ? error.message : String(error))
  }
}

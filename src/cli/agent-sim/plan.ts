import { DEFAULT_BINARIES, type StartBinaries } from './binary.ts'
import type { Condition } from './fail-on.ts'
import type { Rates } from './scenario/rates.ts'
import type { Scenario } from './scenario/scenario.ts'
import type { DomainShare } from './workers/shares.ts'

/** The parameters of a simulation, from the command line and the scenario. */
export interface SimulationPlan {
  /** Number of nodes in all Domains. */
  readonly nodes: number
  /** The Domains, each with its part of the nodes. Absent: one, that of the join token. */
  readonly domains?: readonly DomainShare[]
  readonly durationMs: number
  /** Warm-up time at the start of the duration, excluded from latency statistics. */
  readonly warmUpMs: number
  readonly heartbeatIntervalMs: number
  /** Whether the nodes are deregistered at the end. */
  readonly deregister: boolean
  /** Maximum number of concurrent registrations and deregistrations. */
  readonly concurrency: number
  readonly failOn: readonly Condition[]
  readonly habits: Habits
  /** Undefined for a run without a scenario. */
  readonly scenario: Scenario | undefined
}

/** What agents do in addition to heartbeats and event streams. */
export interface Habits {
  /** Number of sampled edges per node: both ends fetch their key, and the keys are compared. */
  readonly edges: number
  readonly rates: Rates
  /** Bytes of the value of each state report of a workload; those that need no more have fewer. */
  readonly reportBytes: number
  /** Share of executions that fail, from 0 to 1. */
  readonly executionFailures: number
  /** Shares of upgrades that fail, and that lead to another binary than that of the release, from 0 to 1. */
  readonly upgradeFailures: number
  readonly wrongChecksums: number
  readonly binaries: StartBinaries
  readonly bridges: BridgeHabits
}

/** The bridges that the simulator makes. */
export interface BridgeHabits {
  readonly count: number
  /** Hosts of each. */
  readonly hosts: number
}

/** The habits without flags and scenario. */
export const DEFAULT_HABITS: Habits = {
  edges: 4,
  rates: {
    endpoint_changes: 0.01,
    pulls: 0.01,
    reports: 0.05,
    violations: 0.001,
    nsk_rotations: 0,
    bridge_changes: 0.5,
  },
  reportBytes: 0,
  executionFailures: 0.05,
  upgradeFailures: 0,
  wrongChecksums: 0,
  binaries: DEFAULT_BINARIES,
  bridges: { count: 0, hosts: 2 },
}

/** Upper bounds of a plan's numbers. */
export const PLAN_MAX = {
  nodes: 100_000,
  concurrency: 512,
  connections: 20_000,
  edges: 64,
  reportBytes: 4_096,
  bridges: 1_000,
  bridgeHosts: 64,
  architectures: 16,
  workers: 64,
  domains: 1_000,
  sourceAddresses: 256,
} as const

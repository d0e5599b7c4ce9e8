import type { Condition } from './fail-on.ts'
import type { Rates } from './scenario/rates.ts'
import type { Scenario } from './scenario/scenario.ts'

/** A run of the simulator, as asked for on the command line. */
export interface SimulationPlan {
  readonly nodes: number
  readonly durationMs: number
  /** Part of the duration, its first, whose latencies are not kept. */
  readonly warmUpMs: number
  readonly heartbeatIntervalMs: number
  /** Takes the nodes away again at the end. */
  readonly deregister: boolean
  /** Calls at once while registering and deregistering. */
  readonly concurrency: number
  readonly failOn: readonly Condition[]
  readonly habits: Habits
  /** Undefined: nothing out of the ordinary. */
  readonly scenario: Scenario | undefined
}

/** What agents do beside heartbeats and hearing events. */
export interface Habits {
  /** Edges of each node of which both ends fetch and compare the key. */
  readonly edges: number
  readonly rates: Rates
  /** Share of executions that fail, from 0 to 1. */
  readonly executionFailures: number
}

/** What agents do unless they are told otherwise. */
export const USUAL_HABITS: Habits = {
  edges: 4,
  rates: { endpoint_changes: 0.01, pulls: 0.01, reports: 0.05, violations: 0.001, nsk_rotations: 0 },
  executionFailures: 0.05,
}

/** The numbers of a plan may be from 1 to these. */
export const PLAN_MAX = { nodes: 100_000, concurrency: 512, connections: 20_000, edges: 64 } as const

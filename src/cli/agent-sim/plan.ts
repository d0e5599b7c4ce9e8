import type { Condition } from './fail-on.ts'

/** A run of the simulator, as asked for on the command line. */
export interface SimulationPlan {
  readonly nodes: number
  readonly durationMs: number
  readonly heartbeatIntervalMs: number
  /** Takes the nodes away again at the end. */
  readonly deregister: boolean
  /** Calls at once while registering and deregistering. */
  readonly concurrency: number
  readonly failOn: readonly Condition[]
}

/** The numbers of a plan may be from 1 to these. */
export const PLAN_MAX = { nodes: 100_000, concurrency: 512, connections: 20_000 } as const

import type { Json } from '../../ports/tables/json.ts'

/** An upgrade of nodes to a release. */
export interface RolloutRow {
  id: string
  domain_id: string
  slug: string
  version: string
  /** Canonical. Until the rollout ends it is the holder `rollout:<id>` of the Definitions that it names. */
  selector: string
  waves: Json<readonly Wave[]>
  canaries: number
  max_in_flight: number
  soak_seconds: number
  max_failures: number
  maintenance_window: Json<MaintenanceWindow | null>
  allow_downgrade: boolean
  status: 'pending' | 'running' | 'paused' | 'halted' | 'completed' | 'cancelled'
  /** The wave in progress, 0 for the canaries; null before the start and at the end. */
  wave: number | null
  /** What its rows of `rollout_nodes` add up to: whatever changes those changes this in the same transaction. */
  progress: Json<readonly WaveProgress[]>
  /** Nodes that are upgrading or soaking. */
  in_flight: number
  halted_reason: string | null
  waiting_for: 'window' | 'capacity' | null
  /** Subject. */
  created_by: string
  created_at: Date
  started_at: Date | null
  finished_at: Date | null
  updated_at: Date
}

/** Nodes by percent of all, cumulative, or by the value of their label `update-group`. */
export interface Wave {
  readonly percent?: number | undefined
  readonly update_group?: string | undefined
}

export type NodeState = 'pending' | 'upgrading' | 'soaking' | 'done' | 'failed' | 'skipped'

/** How many nodes of a wave are in which state. */
export interface WaveProgress {
  readonly wave: number
  readonly nodes: number
  readonly counts: Readonly<Record<NodeState, number>>
}

export interface MaintenanceWindow {
  readonly time_zone: string
  /** 1 (Monday) to 7. */
  readonly days: readonly number[]
  readonly from: string
  readonly to: string
}

/** A node of a rollout. Kept when the node is deleted. */
export interface RolloutNodeRow {
  rollout_id: string
  node_id: string
  /** Of the node when the rollout started. */
  name: string
  wave: number
  /** Its turn, from 0, within the whole rollout. */
  place: number
  state: NodeState
  /** Why it failed or was skipped. */
  reason: string | null
  execution_id: string | null
  /** Since when it is in that state. */
  updated_at: Date
}

declare module '../../ports/tables/tables.ts' {
  interface Tables {
    rollouts: RolloutRow
    rollout_nodes: RolloutNodeRow
  }
}

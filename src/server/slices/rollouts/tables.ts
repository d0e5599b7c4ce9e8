import type { Json } from '../../ports/tables/json.ts'

/** An upgrade of nodes to a release. */
export interface RolloutRow {
  id: string
  domain_id: string
  slug: string
  version: string
  /** As its author wrote it. */
  selector: string
  waves: Json<readonly { readonly percent?: number | undefined; readonly update_group?: string | undefined }[]>
  canaries: number
  max_in_flight: number
  soak_seconds: number
  max_failures: number
  maintenance_window: Json<MaintenanceWindow | null>
  allow_downgrade: boolean
  status: 'pending' | 'running' | 'paused' | 'halted' | 'completed' | 'cancelled'
  /** The wave in progress, 0 for the canaries; null before the start and at the end. */
  wave: number | null
  halted_reason: string | null
  waiting_for: 'window' | 'capacity' | null
  /** Subject. */
  created_by: string
  created_at: Date
  started_at: Date | null
  finished_at: Date | null
  updated_at: Date
}

export interface MaintenanceWindow {
  readonly time_zone: string
  readonly days: number[]
  readonly from: string
  readonly to: string
}

/** A node of a rollout. Kept when the node is deleted. */
export interface RolloutNodeRow {
  rollout_id: string
  node_id: string
  wave: number
  /** Its turn, from 0, within the whole rollout. */
  place: number
  state: 'pending' | 'upgrading' | 'soaking' | 'done' | 'failed' | 'skipped'
  reason: string | null
  execution_id: string | null
  updated_at: Date
}

declare module '../../ports/tables/tables.ts' {
  interface Tables {
    rollouts: RolloutRow
    rollout_nodes: RolloutNodeRow
  }
}

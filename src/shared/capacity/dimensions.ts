/** What a Domain can have too much of (S1 Capacity), in the order of snapshots. */
export const CAPACITY_DIMENSIONS = [
  'nodes',
  'sse_fanout',
  'secret_reads',
  'mediated_sessions',
  'observability_ingest',
  'action_executions',
] as const

export type CapacityDimension = (typeof CAPACITY_DIMENSIONS)[number]

/** A dimension that is a rate: what is counted is added up, and divided by the time in which it was. */
export type CountedDimension = 'sse_fanout' | 'secret_reads' | 'observability_ingest'

/** A dimension that is an absolute number now. */
export type LevelDimension = Exclude<CapacityDimension, CountedDimension>

/** What is known of a dimension in advance. */
export interface DimensionFacts {
  readonly unit: 'count' | 'events/sec' | 'reads/sec' | 'bytes/sec'
  /** Where a Domain has no target of its own. 0 would be no target. */
  readonly defaultTarget: number
  /** Whether calls beyond the target are refused with `capacity_exceeded`. */
  readonly isEnforced: boolean
  /** `level`: an absolute number now. `rate`: per second. */
  readonly kind: 'level' | 'rate'
}

/** Units, default targets and enforcement by dimension (S1 Capacity). */
export const DIMENSION_FACTS = {
  nodes: { unit: 'count', defaultTarget: 10_000, isEnforced: false, kind: 'level' },
  sse_fanout: { unit: 'events/sec', defaultTarget: 1_000, isEnforced: false, kind: 'rate' },
  secret_reads: { unit: 'reads/sec', defaultTarget: 10_000, isEnforced: false, kind: 'rate' },
  mediated_sessions: { unit: 'count', defaultTarget: 500, isEnforced: false, kind: 'level' },
  observability_ingest: { unit: 'bytes/sec', defaultTarget: 5_242_880, isEnforced: true, kind: 'rate' },
  action_executions: { unit: 'count', defaultTarget: 1_000, isEnforced: true, kind: 'level' },
} as const satisfies Readonly<Record<CapacityDimension, DimensionFacts>>

/** Largest target: beyond it a number of bytes would no longer be exact in JSON. */
export const CAPACITY_TARGET_MAX = Number.MAX_SAFE_INTEGER

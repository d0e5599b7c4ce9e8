import type { NodeSummary, ReachabilityState } from '../api/operations.ts'

/** The states of reachability, those in reach first. */
export const STATES = [
  'healthy',
  'stale',
  'unreachable',
  'never_reported',
] as const satisfies readonly ReachabilityState[]

export type Counts = Readonly<Record<ReachabilityState, number>>

/** How many nodes are in each state. */
export function countStates(nodes: readonly Pick<NodeSummary, 'reachability'>[]): Counts {
  const counts = { healthy: 0, stale: 0, unreachable: 0, never_reported: 0 }
  for (const { reachability } of nodes) counts[reachability] += 1
  return counts
}

/** A version of the agent, and how many nodes run it. */
export interface VersionShare {
  /** Null: the node has not reported one. */
  readonly version: string | null
  readonly nodes: number
}

/** The versions that nodes run, the newest first; nodes without one last. */
export function countVersions(nodes: readonly Pick<NodeSummary, 'binary_version'>[]): readonly VersionShare[] {
  const counts = new Map<string | null, number>()
  for (const { binary_version: version } of nodes) counts.set(version, (counts.get(version) ?? 0) + 1)
  return Array.from(counts, ([version, count]) => ({ version, nodes: count })).toSorted((a, b) =>
    newestFirst(a.version, b.version),
  )
}

const ordering = new Intl.Collator('en', { numeric: true })

function newestFirst(left: string | null, right: string | null): number {
  if (left === null || right === null) return Number(left === null) - Number(right === null)
  const [coreA = '', preA] = left.split('-', 2)
  const [coreB = '', preB] = right.split('-', 2)
  const byCore = ordering.compare(coreB, coreA)
  if (byCore !== 0) return byCore
  // A pre-release precedes its release (Semantic Versioning 11).
  if (preA === undefined || preB === undefined) return Number(preA !== undefined) - Number(preB !== undefined)
  return ordering.compare(preB, preA)
}

/** What is not as it should be, by how it differs. */
export interface Drift {
  /** Nodes that run an older version than the newest one in the Domain. */
  readonly behind: readonly NodeSummary[]
  /** Nodes that wait for new keys. */
  readonly rotating: readonly NodeSummary[]
  readonly newest: string | null
}

export function driftOf(nodes: readonly NodeSummary[]): Drift {
  const newest = countVersions(nodes)[0]?.version ?? null
  return {
    newest,
    behind: nodes.filter(({ binary_version: version }) => version !== null && version !== newest),
    rotating: nodes.filter(({ rotation_pending: isPending }) => isPending),
  }
}

/** Nodes that are out of reach, the longest first. */
export function outOfReach(nodes: readonly NodeSummary[]): readonly NodeSummary[] {
  const lost = nodes.filter(({ reachability }) => reachability === 'unreachable' || reachability === 'stale')
  return lost.toSorted((a, b) => ((a.last_heartbeat_at ?? '') < (b.last_heartbeat_at ?? '') ? -1 : 1))
}

import type { NodeSummary, ReachabilityState } from '../api/operations.ts'
import { compareVersions, isSemanticVersion } from '../../shared/semantic-version.ts'

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
  /** Whether it is a text without a rank, such as `agent-sim`, which is neither newer nor older than a version. */
  readonly isOther: boolean
}

/** The versions that nodes run, the newest first; then other texts, then nodes without any. */
export function countVersions(nodes: readonly Pick<NodeSummary, 'binary_version'>[]): readonly VersionShare[] {
  const counts = new Map<string | null, number>()
  for (const { binary_version: version } of nodes) counts.set(version, (counts.get(version) ?? 0) + 1)
  return Array.from(counts, ([version, count]) => ({
    version,
    nodes: count,
    isOther: version !== null && !isSemanticVersion(version),
  })).toSorted((a, b) => newestFirst(a.version, b.version))
}

function newestFirst(left: string | null, right: string | null): number {
  if (left === null || right === null) return Number(left === null) - Number(right === null)
  return compareVersions(right, left) || left.localeCompare(right, 'en')
}

/** What is not as it should be, by how it differs. */
export interface Drift {
  /** Nodes that run an older version than the newest one in the Domain. */
  readonly behind: readonly NodeSummary[]
  /** Nodes whose version has no rank, so that it cannot be compared. */
  readonly other: readonly NodeSummary[]
  /** Nodes that wait for new keys. */
  readonly rotating: readonly NodeSummary[]
  /** Null where no node reports a version that has a rank. */
  readonly newest: string | null
}

export function driftOf(nodes: readonly NodeSummary[]): Drift {
  const newest = countVersions(nodes).find(({ version, isOther }) => version !== null && !isOther)?.version ?? null
  const ofVersion = (holds: (version: string) => boolean) =>
    nodes.filter(({ binary_version: version }) => version !== null && holds(version))
  return {
    newest,
    behind: ofVersion(
      (version) => newest !== null && isSemanticVersion(version) && compareVersions(version, newest) < 0,
    ),
    other: ofVersion((version) => !isSemanticVersion(version)),
    rotating: nodes.filter(({ rotation_pending: isPending }) => isPending),
  }
}

/** Nodes that are out of reach, the longest first. */
export function outOfReach(nodes: readonly NodeSummary[]): readonly NodeSummary[] {
  const lost = nodes.filter(({ reachability }) => reachability === 'unreachable' || reachability === 'stale')
  return lost.toSorted((a, b) => ((a.last_heartbeat_at ?? '') < (b.last_heartbeat_at ?? '') ? -1 : 1))
}

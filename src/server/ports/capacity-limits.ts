import type { CapacityDimension } from '../../shared/capacity/dimensions.ts'

/** What is known here of the targets of the Domains, as of the last sample. On hot paths: it never waits or throws. */
export interface CapacityLimits {
  /** The target of a Domain, its dimension's default where it has none of its own; 0: no target. */
  targetOf(domainId: string, dimension: CapacityDimension): number
  /** How many replicas serve, this one included: 1 at least. */
  liveReplicas(): number
}

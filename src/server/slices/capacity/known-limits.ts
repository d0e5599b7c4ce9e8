import { DIMENSION_FACTS, type CapacityDimension } from '../../../shared/capacity/dimensions.ts'
import type { CapacityLimits } from '../../ports/capacity-limits.ts'
import type { ByDomain } from './domain-monitor.ts'

/** What the last sample found of targets and replicas. */
export interface KnownLimits extends CapacityLimits {
  /** Takes the targets that Domains have of their own. */
  found(targets: ByDomain<CapacityDimension, number>): void
  /** Takes the number of replicas. */
  counted(replicas: number): void
}

/** Before the first sample there are the defaults, and this replica alone. */
export function createKnownLimits(): KnownLimits {
  let targets: ByDomain<CapacityDimension, number> = new Map()
  let replicas = 1
  return {
    targetOf: (domainId, dimension) =>
      targets.get(domainId)?.get(dimension) ?? DIMENSION_FACTS[dimension].defaultTarget,
    liveReplicas: () => replicas,
    found(next) {
      targets = next
    },
    counted(next) {
      replicas = Math.max(1, next)
    },
  }
}

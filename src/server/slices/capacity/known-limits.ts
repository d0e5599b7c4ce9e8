import { DIMENSION_FACTS, type CapacityDimension } from '../../../shared/capacity/dimensions.ts'
import type { CapacityLimits } from '../../ports/capacity-limits.ts'

/** Targets that a Domain has of its own, by dimension. */
export type OwnTargets = ReadonlyMap<CapacityDimension, number>

/** What the last sample found of targets and replicas. */
export interface KnownLimits extends CapacityLimits {
  /** Takes the targets that differ from the defaults, by Domain, and the number of replicas. */
  found(targets: ReadonlyMap<string, OwnTargets>, replicas: number): void
}

/** Before the first sample there are the defaults, and this replica alone. */
export function createKnownLimits(): KnownLimits {
  let targets: ReadonlyMap<string, OwnTargets> = new Map()
  let replicas = 1
  return {
    targetOf: (domainId, dimension) =>
      targets.get(domainId)?.get(dimension) ?? DIMENSION_FACTS[dimension].defaultTarget,
    liveReplicas: () => replicas,
    found(newTargets, newReplicas) {
      targets = newTargets
      replicas = Math.max(1, newReplicas)
    },
  }
}

import type { CountedDimension } from '../../../shared/capacity/dimensions.ts'
import type { UsageMeter } from '../../ports/usage-meter.ts'

/** What one Domain has used of one dimension since it was last written. */
export interface UsageDelta {
  readonly domainId: string
  readonly dimension: CountedDimension
  readonly delta: number
}

/** Keeps what this process counts until it is written. */
export interface PendingUsage extends UsageMeter {
  /** What has not been written yet. */
  pending(): readonly UsageDelta[]
  /** Takes off what was written meanwhile; what was counted since stays. */
  written(deltas: readonly UsageDelta[]): void
}

/** Counts of a Domain. A class, so that all have the same shape and a count changes a number in its place. */
class Counts implements Record<CountedDimension, number> {
  sse_fanout = 0
  secret_reads = 0
  observability_ingest = 0
}

const COUNTED = ['sse_fanout', 'secret_reads', 'observability_ingest'] as const

export function createPendingUsage(): PendingUsage {
  const byDomain = new Map<string, Counts>()

  function countsOf(domainId: string): Counts {
    const found = byDomain.get(domainId)
    if (found !== undefined) return found
    const counts = new Counts()
    byDomain.set(domainId, counts)
    return counts
  }

  return {
    count(dimension, domainId, amount) {
      countsOf(domainId)[dimension] += amount
    },
    pending: () =>
      [...byDomain].flatMap(([domainId, counts]) =>
        COUNTED.flatMap((dimension) =>
          counts[dimension] === 0 ? [] : [{ domainId, dimension, delta: counts[dimension] }],
        ),
      ),
    written(deltas) {
      for (const { domainId, dimension, delta } of deltas) {
        const counts = byDomain.get(domainId)
        if (counts !== undefined) counts[dimension] -= delta
      }
      // A Domain that uses nothing any more, or is gone, takes no memory.
      for (const [domainId, counts] of byDomain)
        if (COUNTED.every((dimension) => counts[dimension] === 0)) byDomain.delete(domainId)
    },
  }
}

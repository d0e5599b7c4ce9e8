import type { IdSource } from '../../ports/clock.ts'
import { createDomainMonitor, type DomainMonitor } from './domain-monitor.ts'
import { createHeldCrossings, type HeldCrossings } from './held-crossings.ts'
import { createKnownLimits, type KnownLimits } from './known-limits.ts'
import { createPendingUsage, type PendingUsage } from './pending-usage.ts'

/** What the slice keeps in memory, and others count in or read from. */
export interface CapacityParts {
  readonly usage: PendingUsage
  readonly capacityLimits: KnownLimits
  readonly capacityMonitor: DomainMonitor
  readonly crossings: HeldCrossings
}

export function createCapacityParts(ids: IdSource, capacityIntervalMs: number): CapacityParts {
  return {
    usage: createPendingUsage(),
    capacityLimits: createKnownLimits(),
    capacityMonitor: createDomainMonitor(),
    crossings: createHeldCrossings({ ids, intervalMs: capacityIntervalMs }),
  }
}

import type { Slice } from '../../http/slice.ts'
import type { KnownLimits } from './known-limits.ts'
import type { PendingUsage } from './pending-usage.ts'

export { contents } from './contents.ts'
export { events } from './events.ts'

interface CapacityPorts {
  readonly usage: PendingUsage
  readonly capacityLimits: KnownLimits
}

/** The capacity of Domains: samples, targets and their history. */
export function createSlice(_ports: CapacityPorts): Slice<'capacity'> {
  return { handlers: { capacity: undefined } }
}

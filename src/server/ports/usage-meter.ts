import type { CountedDimension } from '../../shared/capacity/dimensions.ts'

/** Counts what the Domains use, for the dimensions that are rates (S1 Capacity). On hot paths: it never waits or throws. */
export interface UsageMeter {
  /** Adds to what this process has counted since it last wrote its totals. */
  count(dimension: CountedDimension, domainId: string, amount: number): void
}

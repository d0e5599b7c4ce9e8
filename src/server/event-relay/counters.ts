import type { WireType } from '../../shared/events/wire-types.ts'

/** Counts the work of the relay, for metrics. */
export interface RelayCounters {
  /** Events that the stream has stored. */
  published(type: WireType, count: number): void
  /** Changes that were merged into the hint of another change, or into a `resync`. */
  merged(hints: number): void
  /** Passes that ended because the signer failed. */
  signingFailed(): void
  /** Passes that ended because the stream was unavailable. */
  publishFailed(): void
}

/** For servers without metrics. */
export const NO_RELAY_COUNTERS: RelayCounters = {
  published() {},
  merged() {},
  signingFailed() {},
  publishFailed() {},
}

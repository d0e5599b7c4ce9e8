import type { WireType } from '../../shared/events/wire-types.ts'

/** Hears what the relay did, for metrics. */
export interface RelayCounters {
  /** Events that the stream has now. */
  published(type: WireType, count: number): void
  /** Changes that a node was told of together with others, or by `resync`, in one hint. */
  merged(hints: number): void
  /** Passes that ended because nothing could be signed. */
  signingFailed(): void
  /** Passes that ended because the stream could not be reached. */
  publishFailed(): void
}

/** For servers without metrics. */
export const NO_RELAY_COUNTERS: RelayCounters = {
  published() {},
  merged() {},
  signingFailed() {},
  publishFailed() {},
}

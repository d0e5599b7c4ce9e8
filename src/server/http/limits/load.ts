import { problem, type Problem } from '../../../shared/problems.ts'
import type { Drain } from './drain.ts'
import type { EventLoopLag } from './event-loop-lag.ts'
import type { OverloadMeter, OverloadReason } from './overload-meter.ts'

/** Requests of all connections that are under way at once. */
const REQUESTS_MAX = 16_384
/** Below this number, requests are not the cause of a late event loop, and refusing more would not help. */
const FEW_REQUESTS = 64

/** The load of the server. */
export interface Load {
  /** @throws Problem `overloaded` when another request would be too many, or the event loop is late. */
  assertRoom(): void
  /** Whether the load is so high that requests must wait for each other. */
  isBusy(): boolean
}

export interface LoadDeps {
  /** Counts requests in progress. */
  readonly drain: Pick<Drain, 'running'>
  readonly lag: Pick<EventLoopLag, 'isLate'>
  readonly meter: OverloadMeter
  readonly requestsMax?: number | undefined
}

/** Bounds the requests in progress. Open event streams and answers that wait for their readers do not count. */
export function createLoad({ drain, lag, meter, requestsMax = REQUESTS_MAX }: LoadDeps): Load {
  function refused(reason: OverloadReason): Problem {
    meter.refused(reason)
    return problem('overloaded', { retry_after_seconds: 1 })
  }

  const isBusy = (): boolean => drain.running() > FEW_REQUESTS

  return {
    isBusy,
    assertRoom() {
      if (!isBusy()) return
      if (drain.running() > requestsMax) throw refused('requests')
      if (lag.isLate()) throw refused('event_loop')
    },
  }
}

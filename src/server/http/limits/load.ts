import { problem, type Problem } from '../../../shared/problems.ts'
import type { Drain } from './drain.ts'
import type { EventLoopLag } from './event-loop-lag.ts'
import type { OverloadMeter, OverloadReason } from './overload-meter.ts'

/** Requests of all connections that are under way at once. */
const REQUESTS_MAX = 16_384
/** So few requests are not what keeps the event loop busy, and refusing more would not help. */
const FEW_REQUESTS = 64

/** How much the server has to do. */
export interface Load {
  /** @throws Problem `overloaded` when another request would be too many, or the event loop is late. */
  assertRoom(): void
  /** Whether so much is under way that requests have to wait for each other. */
  isBusy(): boolean
}

export interface LoadDeps {
  /** Counts what is under way. */
  readonly drain: Pick<Drain, 'running'>
  readonly lag: Pick<EventLoopLag, 'isLate'>
  readonly meter: OverloadMeter
  readonly requestsMax?: number | undefined
}

/** Bounds the requests under way, open event streams and answers that wait for their readers apart. */
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

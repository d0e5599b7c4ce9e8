/**
 * Lets callers wait for the renewal of a lease that lapsed while this process was suspended. They do not wait while the
 * datastore is unavailable.
 */
export interface LeaseWait {
  /** Resolves with whether the lease was renewed in time. */
  until(): Promise<boolean>
  /** The lease was renewed. */
  renewed(): void
  /** A read that should have renewed the lease failed. */
  failed(): void
}

/** Maximum wait, measured from the moment when the lapse was first noticed. */
const WAIT_MS = 2_000
/** A stall may cost the connection of one read; the next read opens another. */
const FAILURES_MAX = 2

interface Waiting {
  readonly outcome: Promise<boolean>
  readonly settle: (isRenewed: boolean) => void
}

export function createLeaseWait(monotonicMs: () => number): LeaseWait {
  let noticedMs: number | undefined
  let failures = 0
  let waiting: Waiting | undefined

  function settle(isRenewed: boolean): void {
    waiting?.settle(isRenewed)
    waiting = undefined
  }

  /** All waiting callers share one promise. */
  function open(ms: number): Waiting {
    let settleOutcome = (_isRenewed: boolean): void => undefined
    const outcome = new Promise<boolean>((resolve) => {
      settleOutcome = resolve
    })
    const timer = setTimeout(() => settle(false), ms)
    return {
      outcome,
      settle(isRenewed) {
        clearTimeout(timer)
        settleOutcome(isRenewed)
      },
    }
  }

  return {
    until() {
      noticedMs ??= monotonicMs()
      const leftMs = noticedMs + WAIT_MS - monotonicMs()
      if (failures >= FAILURES_MAX || leftMs <= 0) return Promise.resolve(false)
      waiting ??= open(leftMs)
      return waiting.outcome
    },
    renewed() {
      noticedMs = undefined
      failures = 0
      settle(true)
    },
    failed() {
      failures += 1
      if (failures >= FAILURES_MAX) settle(false)
    },
  }
}

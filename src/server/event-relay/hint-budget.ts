/** Counts the hints of all Domains together. */
export interface HintBudget {
  /** Number of hints that may be sent now. */
  left(nowMs: number): number
  /** Records hints that were enqueued at that instant. */
  spend(hints: number, nowMs: number): void
}

/**
 * Limits the number of hints within any window. It is kept in memory: a new leader begins with a full budget, which at most doubles
 * the hints of one window.
 */
export function createHintBudget({
  hints: max,
  windowMs,
}: {
  readonly hints: number
  readonly windowMs: number
}): HintBudget {
  let spent: readonly { readonly hints: number; readonly atMs: number }[] = []
  return {
    left(nowMs) {
      // A clock that was set back must not make earlier hints count for longer.
      spent = spent.filter(({ atMs }) => atMs > nowMs - windowMs && atMs <= nowMs)
      return Math.max(0, max - spent.reduce((sum, { hints }) => sum + hints, 0))
    },
    spend(hints, nowMs) {
      if (hints > 0) spent = [...spent, { hints, atMs: nowMs }]
    },
  }
}

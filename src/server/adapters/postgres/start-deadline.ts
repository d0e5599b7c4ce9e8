/** A deadline that has not passed yet. */
export interface Deadline {
  clear(): void
}

/** A timer that fires this much too late shows that this process was suspended meanwhile. */
const STALL_MS = 50
/** What the other side gets after a stall, unless its whole time is shorter. */
const GRACE_MS = 1_000

/**
 * Calls `onLate` after so many ms, unless it is cleared before. A process that was suspended, or whose event loop was
 * busy, runs its timers before it reads the answers that arrived meanwhile: then they get another second, once.
 */
export function startDeadline(ms: number, onLate: () => void): Deadline {
  const dueMs = performance.now() + ms
  let timer = setTimeout(() => {
    if (performance.now() - dueMs < STALL_MS) onLate()
    else timer = setTimeout(onLate, Math.min(ms, GRACE_MS))
  }, ms)
  return { clear: () => clearTimeout(timer) }
}

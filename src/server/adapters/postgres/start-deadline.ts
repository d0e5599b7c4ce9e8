/** A deadline that has not passed yet. */
export interface Deadline {
  clear(): void
}

/** Delay of a timer that shows that this process was suspended. */
const STALL_MS = 50
/** Extra time after a stall, unless the whole deadline is shorter. */
const GRACE_MS = 1_000

/**
 * Calls `onLate` after the given ms, unless it is cleared before. After a suspension or a busy event loop, Node runs
 * timers before it reads the answers that have arrived: the deadline is then extended once, by a second.
 */
export function startDeadline(ms: number, onLate: () => void): Deadline {
  const dueMs = performance.now() + ms
  let timer = setTimeout(() => {
    if (performance.now() - dueMs < STALL_MS) onLate()
    else timer = setTimeout(onLate, Math.min(ms, GRACE_MS))
  }, ms)
  return { clear: () => clearTimeout(timer) }
}

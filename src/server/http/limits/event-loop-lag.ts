/** How late the event loop is. */
export interface EventLoopLag {
  /** Whether the loop is so late that new work would delay it by a second. */
  isLate(): boolean
  /** The longest delay of the last 15 to 30 seconds. */
  seconds(): number
  stop(): void
}

const TICK_MS = 100
/** Beyond a tick. Work in progress when new work is refused must still finish within the second. */
const LATE_MS = 600
const WINDOW_TICKS = 150

/**
 * Watches the event loop with a timer. Between two ticks the loop serves whatever arrived meanwhile, so the time since
 * the last tick is known while the loop is busy, and not only afterwards.
 */
export function watchEventLoopLag(now: () => number = () => performance.now()): EventLoopLag {
  let tickedAt = now()
  let [older, newer, ticks] = [0, 0, 0]

  function tick(): void {
    const at = now()
    newer = Math.max(newer, at - tickedAt - TICK_MS)
    tickedAt = at
    ticks += 1
    if (ticks % WINDOW_TICKS === 0) [older, newer] = [newer, 0]
  }

  const timer = setInterval(tick, TICK_MS)
  timer.unref()
  return {
    isLate: () => now() - tickedAt > TICK_MS + LATE_MS,
    seconds: () => Math.max(older, newer, now() - tickedAt - TICK_MS, 0) / 1000,
    stop: () => clearInterval(timer),
  }
}

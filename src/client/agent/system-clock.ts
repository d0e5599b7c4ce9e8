import { TIMER_MS_MAX, type AgentClock } from './agent-clock.ts'

/**
 * Makes a clock with the time, random numbers and timers of the machine. Thousands of agents wait on one signal, so each
 * signal gets one listener that wakes all waiters: removing one of thousands of listeners is slow.
 */
export function createSystemClock(): AgentClock {
  const waitersOf = new WeakMap<AbortSignal, Set<() => void>>()

  function waiters(signal: AbortSignal): Set<() => void> {
    const known = waitersOf.get(signal)
    if (known !== undefined) return known
    const fresh = new Set<() => void>()
    waitersOf.set(signal, fresh)
    signal.addEventListener('abort', () => fresh.forEach((wake) => wake()), { once: true })
    return fresh
  }

  return {
    now: Date.now,
    random: Math.random,
    pause(ms, signal) {
      if (signal.aborted || ms <= 0) return Promise.resolve()
      const waiting = waiters(signal)
      return new Promise((resolve) => {
        const wake = (): void => {
          clearTimeout(timer)
          waiting.delete(wake)
          resolve()
        }
        const timer = setTimeout(wake, Math.min(ms, TIMER_MS_MAX))
        waiting.add(wake)
      })
    },
  }
}

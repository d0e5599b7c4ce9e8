import { TIMER_MS_MAX } from '../../../client/agent/agent-clock.ts'
import type { TimerWheel } from '../../../client/agent/tasks/timer-wheel.ts'

/** Makes the timers of one agent: one of the process for each wait, so that an idle agent does not wake up. */
export function createTimers(): TimerWheel {
  const open = new Set<NodeJS.Timeout>()
  let hasEnded = false
  return {
    after(ms, act) {
      // A call that ends after the agent schedules the next one, which would keep the process from ending.
      if (hasEnded) return
      const timer = setTimeout(
        () => {
          open.delete(timer)
          act()
        },
        Math.min(Math.max(0, ms), TIMER_MS_MAX),
      )
      open.add(timer)
    },
    run(until) {
      return new Promise((resolve) => {
        const end = (): void => {
          hasEnded = true
          open.forEach(clearTimeout)
          open.clear()
          resolve()
        }
        if (until.aborted) end()
        else until.addEventListener('abort', end, { once: true })
      })
    },
  }
}

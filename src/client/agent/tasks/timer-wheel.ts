import type { AgentClock } from '../agent-clock.ts'

/** One timer for all waits of thousands of agents. */
export interface TimerWheel {
  /** Calls `act` at the first tick that is at least `ms` later. */
  after(ms: number, act: () => void): void
  /** Runs until the signal is aborted. Later calls are never made. */
  run(until: AbortSignal): Promise<void>
}

const TICK_MS = 10

/** Makes a stopped wheel. Calls that are due before it runs are made when it starts. */
export function createTimerWheel(clock: AgentClock): TimerWheel {
  const slots = new Map<number, (() => void)[]>()
  let lastTick = Math.floor(clock.now() / TICK_MS)

  function advance(): void {
    const nowTick = Math.floor(clock.now() / TICK_MS)
    while (lastTick < nowTick) {
      lastTick += 1
      const due = slots.get(lastTick)
      slots.delete(lastTick)
      due?.forEach((act) => act())
    }
  }

  return {
    after(ms, act) {
      const tick = Math.max(lastTick + 1, Math.ceil((clock.now() + ms) / TICK_MS))
      const slot = slots.get(tick)
      if (slot === undefined) slots.set(tick, [act])
      else slot.push(act)
    },
    async run(until) {
      while (!until.aborted) {
        await clock.pause(TICK_MS, until)
        if (!until.aborted) advance()
      }
    },
  }
}

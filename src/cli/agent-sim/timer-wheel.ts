import type { AgentClock } from './fleet-deps.ts'

/** One timer for everything that thousands of agents wait for. */
export interface Wheel {
  /** Calls it after so many ms, at the next tick that is not sooner. */
  after(ms: number, act: () => void): void
  /** Turns until the signal; what is due later is never called. */
  turn(until: AbortSignal): Promise<void>
}

const TICK_MS = 10

/** Makes a wheel that stands still until it is turned; what became due meanwhile is called then. */
export function createWheel(clock: AgentClock): Wheel {
  const slots = new Map<number, (() => void)[]>()
  let passed = Math.floor(clock.now() / TICK_MS)

  function pass(): void {
    const nowTick = Math.floor(clock.now() / TICK_MS)
    while (passed < nowTick) {
      passed += 1
      const due = slots.get(passed)
      slots.delete(passed)
      due?.forEach((act) => act())
    }
  }

  return {
    after(ms, act) {
      const tick = Math.max(passed + 1, Math.ceil((clock.now() + ms) / TICK_MS))
      const slot = slots.get(tick)
      if (slot === undefined) slots.set(tick, [act])
      else slot.push(act)
    },
    async turn(until) {
      while (!until.aborted) {
        await clock.pause(TICK_MS, until)
        if (!until.aborted) pass()
      }
    },
  }
}

import type { TimerWheel } from '../../client/agent/tasks/timer-wheel.ts'
import type { Rates } from './scenario/rates.ts'

const EVERY_MS = 250

/** The occasional work of a fleet. */
export interface ChoreTerms {
  /** Shares of the population per minute. Those that are absent are not done. */
  readonly ratesNow: () => Partial<Rates>
  /** Number of those that do it. */
  readonly populationOf: (name: keyof Rates) => number
  /** Starts it once, for a random one of them. */
  readonly start: (name: keyof Rates) => void
  readonly until: AbortSignal
}

/**
 * Starts the occasional work of the fleet at the present rates, until the signal is aborted. One timer serves the whole fleet,
 * because most agents never do most of it.
 */
export function startChores(wheel: TimerWheel, { ratesNow, populationOf, start, until }: ChoreTerms): void {
  const remainders = new Map<keyof Rates, number>()
  const tick = (): void => {
    if (until.aborted) return
    const rates = ratesNow()
    for (const name of Object.keys(rates) as (keyof Rates)[]) {
      const due = (remainders.get(name) ?? 0) + (populationOf(name) * (rates[name] ?? 0) * EVERY_MS) / 60_000
      remainders.set(name, due % 1)
      for (let times = Math.floor(due); times > 0; times -= 1) start(name)
    }
    wheel.after(EVERY_MS, tick)
  }
  wheel.after(EVERY_MS, tick)
}

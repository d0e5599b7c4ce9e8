import type { Pacer } from './pacer.ts'

/** Lets work begin at a pace, and so many at once; none once the signal is aborted. */
export type Turnstile = (until: AbortSignal, work: () => Promise<void>) => Promise<void>

/**
 * Makes one. What thousands do at the same time would otherwise take every connection of a server that is slower than the
 * pace, and heartbeats would wait behind it.
 */
export function createTurnstile(pace: Pacer, lanes: number): Turnstile {
  const waiting: (() => void)[] = []
  let open = lanes
  return async (until, work) => {
    await pace(until)
    if (open > 0) open -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      if (!until.aborted) await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) open += 1
      else next()
    }
  }
}

import type { Pacer } from './pacer.ts'

/** Limits the rate and the concurrency of tasks. Starts none after the signal is aborted. */
export type PacedLimiter = (until: AbortSignal, work: () => Promise<void>) => Promise<void>

/**
 * Makes a limiter. The concurrency limit matters when the server is slower than the pace: without it, such calls would use
 * all connections and delay heartbeats.
 */
export function createPacedLimiter(pace: Pacer, concurrency: number): PacedLimiter {
  const waiting: (() => void)[] = []
  let free = concurrency
  return async (until, work) => {
    await pace(until)
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      if (!until.aborted) await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
}

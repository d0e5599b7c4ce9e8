import type { AgentClock } from './fleet-deps.ts'

/** Lets a call begin once it is its turn; at once when the signal ends the waiting. */
export type Pacer = (until: AbortSignal) => Promise<void>

/** Spreads calls evenly, so that no more than so many begin in a second however many lanes make them. */
export function createPacer(clock: AgentClock, perSecond: number): Pacer {
  let nextMs = 0
  return (until) => {
    const turnMs = Math.max(clock.now(), nextMs)
    nextMs = turnMs + 1000 / perSecond
    return clock.pause(turnMs - clock.now(), until)
  }
}

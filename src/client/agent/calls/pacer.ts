import type { AgentClock } from '../agent-clock.ts'

/** Resolves when the next call may start, or at once when the signal is aborted. */
export type Pacer = (until: AbortSignal) => Promise<void>

/** Makes a pacer that spreads calls evenly, at most `perSecond` in each second. */
export function createPacer(clock: AgentClock, perSecond: number): Pacer {
  let nextMs = 0
  return (until) => {
    const startMs = Math.max(clock.now(), nextMs)
    nextMs = startMs + 1000 / perSecond
    return clock.pause(startMs - clock.now(), until)
  }
}

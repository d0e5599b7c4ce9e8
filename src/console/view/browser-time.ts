/** The clock and the timers of the browser. */
export const browserTime = {
  nowMs: (): number => Date.now(),
  /** Calls back once after that time; returns a function that cancels it. */
  after: (ms: number, run: () => void): (() => void) => {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}

/** Ends looking. */
export type StopLooking = () => void

/**
 * Looks every so many ms, for as long as the process runs otherwise. A look that takes longer takes the place of the next ones: they
 * would wait in a row where a program does not answer. `look` does not reject.
 */
export function lookRegularly(everyMs: number, look: () => Promise<void>): StopLooking {
  let isLooking = false
  const timer = setInterval(() => {
    if (isLooking) return
    isLooking = true
    void look().finally(() => {
      isLooking = false
    })
  }, everyMs).unref()
  return () => clearInterval(timer)
}

/**
 * Looks every so many ms, for as long as the process runs otherwise. A look that takes longer takes the place of the next ones: they
 * would wait in a row where a program does not answer. `look` does not reject. Call the result to end it.
 */
export function lookRegularly(everyMs: number, look: () => Promise<void>): () => void {
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

import { setImmediate } from 'node:timers/promises'

/** Longest time for which a computation keeps the event loop, ms. */
const SLICE_MS = 10

/** Makes a function that lets the event loop do other work where it has waited for long. */
export function createPauses(): () => Promise<void> | undefined {
  let since = performance.now()
  return () => {
    if (performance.now() - since < SLICE_MS) return undefined
    return setImmediate().then(() => {
      since = performance.now()
    })
  }
}

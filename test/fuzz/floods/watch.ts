import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_EVERY_MS = 1_000

/** Measures again and again until it is stopped, which resolves with the most; NaN where nothing could be measured. */
export function watchMost(measure: () => Promise<number>): { stop(): Promise<number> } {
  const ended = new AbortController()
  let most = Number.NaN
  const watching = (async () => {
    while (!ended.signal.aborted) {
      const value = await measure()
      if (value > most || Number.isNaN(most)) most = value
      await sleep(LOOK_EVERY_MS, undefined, { signal: ended.signal }).catch(() => undefined)
    }
  })()
  return {
    async stop() {
      ended.abort()
      await watching
      return most
    },
  }
}

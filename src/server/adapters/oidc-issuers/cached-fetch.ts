import type { Clock } from '../../ports/clock.ts'

/** A value that is fetched, cached for a while, and requested by one call at a time. */
export interface Kept<T> {
  /** The cached value while it is valid; else a fresh one. */
  get(): Promise<T>
  /** A fresh value, shared with concurrent callers; undefined when the last attempt began less than one pause ago. */
  refresh(pauseMs: number): Promise<T> | undefined
}

/** Creates one. A failure is not cached: the next caller fetches again. */
export function createKept<T>(
  load: () => Promise<T>,
  { clock, keptMs }: { readonly clock: Clock; readonly keptMs: number },
): Kept<T> {
  let held: { readonly value: T; readonly sinceMs: number } | undefined
  let running: Promise<T> | undefined
  let attemptedAtMs = -Infinity

  function ask(): Promise<T> {
    running ??= loadNow().finally(() => (running = undefined))
    return running
  }

  async function loadNow(): Promise<T> {
    attemptedAtMs = clock.now()
    const value = await load()
    held = { value, sinceMs: clock.now() }
    return value
  }

  return {
    async get() {
      return held !== undefined && clock.now() - held.sinceMs < keptMs ? held.value : ask()
    },
    refresh(pauseMs) {
      if (running !== undefined) return running
      return clock.now() - attemptedAtMs < pauseMs ? undefined : ask()
    },
  }
}

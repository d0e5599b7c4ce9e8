import type { Clock } from '../../ports/clock.ts'

/** Something that is fetched, believed for a while, and asked for by one call at a time. */
export interface Kept<T> {
  /** What was fetched last, while it is believed; else what comes now. */
  get(): Promise<T>
  /** What comes now, shared with anyone who asks meanwhile; undefined when the last attempt began less than a pause ago. */
  refresh(pauseMs: number): Promise<T> | undefined
}

/** Makes one. A failure is kept for nobody: a caller that comes after it asks again. */
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

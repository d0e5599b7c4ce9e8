/** What a reload needs of the browser. */
export interface ReloadDeps {
  readonly nowMs: () => number
  /** Calls back once after that time; returns a function that cancels it. */
  readonly after: (ms: number, run: () => void) => () => void
}

/** What is loaded, and how often. */
export interface Reloading {
  /** Loads once; reports its own failures. */
  readonly load: (signal: AbortSignal) => Promise<void>
  /** The least time between the end of a load and the next one, in ms. */
  readonly pauseMs: () => number
}

/** Loads the same thing again and again. */
export interface Reload {
  /**
   * Loads at once, or after the load that is under way and the pause behind it. Requests that come meanwhile are answered by one load.
   * A load is never cancelled by a request: where changes come faster than an answer, there would be no answer at all.
   */
  request(): void
  /** Cancels the load that is under way, and those that were requested. */
  end(): void
}

export function createPacedReload({ load, pauseMs }: Reloading, { nowMs, after }: ReloadDeps): Reload {
  const ending = new AbortController()
  let isLoading = false
  let isRequested = false
  let endedAtMs = -Infinity
  let cancelPause = (): void => undefined

  async function run(): Promise<void> {
    isRequested = false
    isLoading = true
    await load(ending.signal)
    isLoading = false
    endedAtMs = nowMs()
    proceed()
  }

  function proceed(): void {
    if (!isRequested || isLoading || ending.signal.aborted) return
    cancelPause()
    const restMs = endedAtMs + pauseMs() - nowMs()
    if (restMs > 0) cancelPause = after(restMs, proceed)
    else void run()
  }

  return {
    request() {
      isRequested = true
      proceed()
    },
    end() {
      ending.abort()
      cancelPause()
    },
  }
}

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
  /** The least time between the end of a load and the next one, in ms. It grows to three times as much under constant requests. */
  readonly pauseMs: () => number
}

/** Loads the same thing again and again. */
export interface Reload {
  /**
   * Loads at once, or after the load that is under way and the pause behind it. Requests that come meanwhile are answered by one load.
   * A load is never cancelled by a request: where changes come faster than an answer, there would be no answer at all.
   */
  request(): void
  /** Loads without the pause: a person waits for it. */
  requestAtOnce(): void
  /** Cancels the load that is under way, and those that were requested. */
  end(): void
}

const GROWTH_MAX = 3

export function createPacedReload({ load, pauseMs }: Reloading, { nowMs, after }: ReloadDeps): Reload {
  const ending = new AbortController()
  let isLoading = false
  let wanted: 'no' | 'paced' | 'at once' = 'no'
  let endedAtMs = -Infinity
  /** How often the pause is waited for. It grows while requests come in every pause, and is 1 again after one without any. */
  let growth = 1
  let cancelPause = (): void => undefined

  async function run(): Promise<void> {
    wanted = 'no'
    isLoading = true
    await load(ending.signal)
    isLoading = false
    endedAtMs = nowMs()
    proceed()
  }

  function proceed(): void {
    if (wanted === 'no' || isLoading || ending.signal.aborted) return
    cancelPause()
    const restMs = wanted === 'at once' ? 0 : endedAtMs + pauseMs() * growth - nowMs()
    if (restMs <= 0) {
      if (wanted === 'paced') growth = 1
      return void run()
    }
    cancelPause = after(restMs, () => {
      growth = Math.min(GROWTH_MAX, growth + 1)
      void run()
    })
  }

  return {
    request() {
      if (wanted === 'no') wanted = 'paced'
      proceed()
    },
    requestAtOnce() {
      wanted = 'at once'
      proceed()
    },
    end() {
      ending.abort()
      cancelPause()
    },
  }
}

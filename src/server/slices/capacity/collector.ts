import { setTimeout as wait } from 'node:timers/promises'
import { createSampler, type SamplerDeps } from './sampler.ts'

export interface CollectorDeps extends SamplerDeps {
  /** Called with the first of consecutive failures. */
  readonly onFailure: (error: unknown) => void
}

/** Takes the samples of this replica. */
export interface Collector {
  /** Samples at once, and then once in each interval. Returns at once. */
  start(): void
  /** Takes one sample. Never rejects. */
  sample(): Promise<void>
  /** How long it takes until the next sample begins. */
  nextInMs(): number
  /** Waits for the sample that runs, and writes what was counted since. Never rejects. */
  stop(): Promise<void>
}

export function createCollector(deps: CollectorDeps): Collector {
  const { elapsedMs, intervalMs } = deps
  const sampler = createSampler(deps)
  const attempts = createAttempts(deps.onFailure)
  const stopping = new AbortController()
  let loop: Promise<void> | undefined
  let beganMs: number | undefined

  function nextInMs(): number {
    return beganMs === undefined ? 0 : Math.max(0, beganMs + intervalMs - elapsedMs())
  }

  async function sample(): Promise<void> {
    beganMs = elapsedMs()
    const hasFlushed = await attempts.succeeds(() => sampler.flush())
    await attempts.succeeds(() => sampler.countReplicas())
    await attempts.succeeds(() => sampler.read(hasFlushed))
    await attempts.succeeds(() => sampler.readGrowth())
    attempts.finish()
  }

  async function repeat(): Promise<void> {
    while (!stopping.signal.aborted) {
      await sample()
      // A sample that took too long is followed by a whole pause: those that are overdue do not pile up.
      const restMs = nextInMs() || intervalMs
      await wait(restMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined)
    }
  }

  return {
    start() {
      loop ??= repeat()
    },
    sample,
    nextInMs,
    async stop() {
      stopping.abort()
      await loop
      await attempts.succeeds(() => sampler.flush())
      if (loop !== undefined) await attempts.succeeds(() => sampler.leave())
      attempts.finish()
    },
  }
}

/** Takes what fails in the steps of a sample, and reports the first failure of consecutive samples that had one. */
function createAttempts(onFailure: CollectorDeps['onFailure']) {
  let hasFailed = false
  let failures: unknown[] = []
  return {
    async succeeds(step: () => Promise<void>): Promise<boolean> {
      try {
        await step()
        return true
      } catch (error) {
        failures.push(error)
        return false
      }
    },
    finish(): void {
      const [first] = failures
      if (failures.length > 0 && !hasFailed) onFailure(first)
      hasFailed = failures.length > 0
      failures = []
    },
  }
}

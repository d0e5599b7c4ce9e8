import type { BusFollower } from '../../ports/event-bus.ts'
import type { LogTail, Stretch } from './store.ts'

export interface LogFollowerOptions {
  readonly from: bigint
  readonly follower: BusFollower
  /** Reads the events after a position. */
  readonly readTail: (after: bigint) => Promise<LogTail>
  /** Pause between two reads, ms; undefined where this process makes every append and announces it. */
  readonly pollMs: number | undefined
  /** Called with each failed read; it is retried. */
  readonly onFailure: (error: unknown) => void
}

export interface LogFollowing {
  /** Reads at once. */
  wake(): void
  /** Delivers the appended events without a read if none is missing before them; else reads at once. */
  offer(stretch: Stretch): void
  /** Stops all deliveries. */
  stop(): void
}

const RETRY_MS = 250

/** Reads the log from a position on until it is stopped, one read at a time. */
export function followLog({ from, follower, readTail, pollMs, onFailure }: LogFollowerOptions): LogFollowing {
  let last = from
  let isWoken = false
  let isReading = false
  const stopping = new AbortController()
  const { signal } = stopping
  let endNap = (): void => undefined

  /** Resolves with whether more is left. */
  async function readOn(): Promise<boolean> {
    const { head, prunedSeq, events } = await readTail(last)
    if (signal.aborted) return false
    if (prunedSeq > last || head < last) {
      last = prunedSeq > last ? prunedSeq : head
      follower.onGap()
      return true
    }
    // Numbers after the last event up to the head belong to events that were stored before.
    last = events.at(-1)?.seq ?? head
    if (events.length > 0) follower.onEvents(events)
    return last < head
  }

  async function catchUp(): Promise<number | undefined> {
    isReading = true
    try {
      while (!signal.aborted && (await readOn()));
      return pollMs
    } catch (error) {
      if (!signal.aborted) onFailure(error)
      return RETRY_MS
    } finally {
      isReading = false
    }
  }

  function nap(ms: number | undefined): Promise<void> {
    if (isWoken) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms).unref()
      endNap = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      isWoken = false
      await nap(await catchUp())
    }
  }

  function wake(): void {
    isWoken = true
    endNap()
  }

  function offer({ base, events }: Stretch): void {
    const newest = events?.at(-1)
    if (signal.aborted || isReading || last !== base || events === undefined || newest === undefined) return wake()
    last = newest.seq
    follower.onEvents(events)
  }

  void run()
  return {
    wake,
    offer,
    stop() {
      stopping.abort()
      wake()
    },
  }
}

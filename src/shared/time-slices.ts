import type { Steps } from './steps.ts'

/** How a piece of work is run. */
export interface SliceOptions {
  /** Asked before each slice that is not made at once: throws the error with which the work ends, where no caller waits for it. */
  readonly assertWanted?: (() => void) | undefined
  /** Runs each slice; by default it is only called. May throw in place of it. What it takes itself shortens the slice, to a third at least. */
  readonly around?: ((slice: () => void) => void) | undefined
}

/** Shares the event loop between long computations and everything else. */
export interface TimeSlices {
  /**
   * Runs the steps in slices. Answers at once where they end within the time that is left of this turn of the event loop.
   * @throws what the steps and the options throw; all work is cleaned up (`finally`) by then.
   */
  run<T>(steps: Steps<T>, options?: SliceOptions): T | Promise<T>
}

export interface TimeSlicesDeps {
  readonly now?: () => number
  /** Milliseconds of each turn. */
  readonly sliceMs?: number
  /** Pieces of work that share the turns; more wait, before their first step, for one of them to end. */
  readonly atOnceMax?: number
}

/** So long may all work together hold the event loop in one turn. Steps, and garbage that they leave, take some more. */
const SLICE_MS = 6

/** A lookup of 400,000 results takes about 60 MB until it has ended. */
const AT_ONCE_MAX = 8

/** Work under way. */
interface Task {
  /** Works until the time, and says whether it goes on after that. */
  readonly advance: (untilMs: number) => boolean
}

/**
 * Creates slices that all work shares: one turn of the event loop works for `sliceMs`, however much work there is, so that
 * requests are read and answered in between. Pieces of work are served one after another, in the order in which they came.
 */
export function createTimeSlices(deps: TimeSlicesDeps = {}): TimeSlices {
  const { now = () => performance.now(), sliceMs = SLICE_MS, atOnceMax = AT_ONCE_MAX } = deps
  /** Those that are served, the next first, and those that wait for it. */
  const active: Task[] = []
  const waiting: Task[] = []
  let turnEndsMs: number | undefined

  /** When the slice of this turn ends; begins it where nothing has run in this turn. */
  function untilMs(): number {
    if (turnEndsMs === undefined) {
      turnEndsMs = now() + sliceMs
      setImmediate(nextTurn)
    }
    return turnEndsMs
  }

  function nextTurn(): void {
    turnEndsMs = undefined
    while (active.length > 0) {
      const endMs = untilMs()
      const task = active.shift()
      const next = task?.advance(endMs) === true ? task : waiting.shift()
      if (next !== undefined) active.push(next)
      if (now() >= endMs) return
    }
  }

  function add(task: Task): void {
    if (active.length < atOnceMax) active.push(task)
    else waiting.push(task)
  }

  return {
    run<T>(steps: Steps<T>, options: SliceOptions = {}) {
      const work = workOf(steps, options, { now, leastMs: sliceMs / 3 })
      const isAlone = active.length === 0 && now() < untilMs()
      if (isAlone && !work.advance(untilMs())) return work.result()
      return new Promise<T>((resolve, reject) => {
        untilMs()
        add({
          advance(until) {
            if (work.advanceWanted(until)) return true
            try {
              resolve(work.result())
            } catch (error) {
              reject(error)
            }
            return false
          },
        })
      })
    },
  }
}

interface Work<T> extends Task {
  /** The same, unless no caller waits for it any more. */
  readonly advanceWanted: (untilMs: number) => boolean
  /** Once it does not go on. @throws the error with which it ended. */
  readonly result: () => T
}

type Ended<T> = { readonly value: T } | { readonly error: unknown }

interface Timing {
  readonly now: () => number
  /** Milliseconds that are left for steps, however long what is around them took. */
  readonly leastMs: number
}

function workOf<T>(steps: Steps<T>, { assertWanted, around }: SliceOptions, { now, leastMs }: Timing): Work<T> {
  let ended: Ended<T> | undefined

  function slice(untilMs: number): void {
    do {
      const step = steps.next()
      if (step.done === true) ended = { value: step.value }
    } while (ended === undefined && now() < untilMs)
  }

  /** Whether the work goes on after the part. */
  function goesOn(part: () => void): boolean {
    try {
      part()
    } catch (error) {
      ended = { error }
      // Runs the `finally` of steps that did not throw themselves.
      steps.return(undefined as never)
    }
    return ended === undefined
  }

  const advance = (untilMs: number): boolean =>
    goesOn(() => {
      if (around === undefined) slice(untilMs)
      else around(() => slice(Math.max(untilMs, now() + leastMs)))
    })

  return {
    advance,
    advanceWanted: (untilMs) => goesOn(() => assertWanted?.()) && advance(untilMs),
    result() {
      if (ended === undefined) throw new Error('the work has not ended')
      if ('error' in ended) throw ended.error
      return ended.value
    },
  }
}

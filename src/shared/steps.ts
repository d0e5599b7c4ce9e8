/**
 * Work that can be paused: each step takes some ten microseconds, a hundred where memory is not cached. The caller that runs it decides
 * what else happens between two steps.
 */
export type Steps<T> = Generator<undefined, T, undefined>

/** Entries that one step handles. */
export const STEP_ENTRIES = 256

/** Runs all steps at once. */
export function whole<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Counts entries over several loops, so that short ones share a step. */
export class Pace {
  readonly #every: number
  #entries = 0

  /** A step has `every` entries. */
  constructor(every = STEP_ENTRIES) {
    this.#every = every
  }

  /** Counts one entry; true where a step ends. */
  isDue(): boolean {
    this.#entries++
    if (this.#entries < this.#every) return false
    this.#entries = 0
    return true
  }
}

/** Counts requests under way, so that a stop can wait for them. */
export interface Drain {
  readonly draining: () => boolean
  /** How many are under way. */
  readonly running: () => number
  entered(): void
  left(): void
  begin(): void
  /** Resolves when nothing is under way, or at the deadline. */
  settled(deadlineMs: number): Promise<void>
}

/** Makes a drain that has not begun. */
export function createDrain(): Drain {
  let running = 0
  let begun = false
  let empty: (() => void) | undefined

  return {
    draining: () => begun,
    running: () => running,
    entered() {
      running++
    },
    left() {
      running--
      if (begun && running === 0) empty?.()
    },
    begin() {
      begun = true
    },
    settled(deadlineMs) {
      if (running === 0) return Promise.resolve()
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, deadlineMs)
        empty = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    },
  }
}

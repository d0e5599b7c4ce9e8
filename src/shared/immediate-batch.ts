/** Work that runs once at the end of the event loop's turn, however often it was requested before. */
export interface TurnEnd {
  ask(): void
  /** Whether it is pending. */
  isAsked(): boolean
}

/** Delays the work until the end of the turn. */
export function atTurnEnd(work: () => void): TurnEnd {
  let isAsked = false
  function run(): void {
    isAsked = false
    work()
  }
  return {
    ask() {
      if (isAsked) return
      isAsked = true
      setImmediate(run)
    },
    isAsked: () => isAsked,
  }
}

/** Work that is done at the end of the event loop's turn, once, however often it is asked for before. */
export interface TurnEnd {
  ask(): void
  /** Whether it is still to come. */
  isAsked(): boolean
}

/** Makes the work wait for what else the turn brings. */
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

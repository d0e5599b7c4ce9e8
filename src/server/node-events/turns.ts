/** Orders what many streams ask at once. */
export interface Turns {
  /** Lets so many questions run at a time; the others wait in the order of their arrival. */
  inTurn<T>(ask: () => Promise<T>): Promise<T>
  /** Resolves when it is time to try again; one timer for all that wait. */
  nextTry(): Promise<void>
}

export function createTurns({ max, retryMs }: { readonly max: number; readonly retryMs: number }): Turns {
  const waiting: (() => void)[] = []
  let free = max
  let pause: Promise<void> | undefined

  return {
    async inTurn(ask) {
      if (free > 0) free -= 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await ask()
      } finally {
        const next = waiting.shift()
        if (next === undefined) free += 1
        else next()
      }
    },
    nextTry() {
      pause ??= new Promise((resolve) => {
        const again = (): void => {
          pause = undefined
          resolve()
        }
        setTimeout(again, retryMs).unref()
      })
      return pause
    },
  }
}

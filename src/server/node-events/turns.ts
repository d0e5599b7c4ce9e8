import { createSlots } from '../../shared/slots.ts'

/** Orders what many streams ask at once. */
export interface Turns {
  /** Lets so many questions run at a time; the others wait in the order of their arrival. */
  inTurn<T>(ask: () => Promise<T>): Promise<T>
  /** Resolves when it is time to try again; one timer for all that wait. */
  nextTry(): Promise<void>
}

export function createTurns({ max, retryMs }: { readonly max: number; readonly retryMs: number }): Turns {
  const slots = createSlots(max)
  let pause: Promise<void> | undefined

  return {
    inTurn: (ask) => slots.run(ask),
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

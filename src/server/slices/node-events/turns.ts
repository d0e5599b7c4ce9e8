import { createSlots } from '../../../shared/semaphore.ts'

/** Orders what many streams ask at once, so that thousands that begin together leave the store to others, too. */
export interface Turns {
  /** Lets a few questions run at a time; the others wait in the order of their arrival. */
  inTurn<T>(ask: () => Promise<T>): Promise<T>
  /** The same for pages of events. They are large: who only asks where to begin waits behind none of them. */
  readInTurn<T>(read: () => Promise<T>): Promise<T>
  /** Resolves when it is time to try again; one timer for all that wait. */
  nextTry(): Promise<void>
}

/** Of each kind at once. A bus that can bear fewer pages lets them wait by itself. */
const AT_ONCE_MAX = 64

export function createTurns({ retryMs }: { readonly retryMs: number }): Turns {
  const [asking, reading] = [createSlots(AT_ONCE_MAX), createSlots(AT_ONCE_MAX)]
  let pause: Promise<void> | undefined

  return {
    inTurn: (ask) => asking.run(ask),
    readInTurn: (read) => reading.run(read),
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

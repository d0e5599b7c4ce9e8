import { createSlots } from '../../../shared/semaphore.ts'

/** Limits concurrent reads of many streams, so that thousands that begin together do not block the store for others. */
export interface Turns {
  /** Runs a few reads at a time; the others wait in order of arrival. */
  inTurn<T>(ask: () => Promise<T>): Promise<T>
  /** The same for pages of events. They are large, so that reads of a starting point do not wait behind them. */
  readInTurn<T>(read: () => Promise<T>): Promise<T>
  /** Resolves when it is time to retry; one timer serves all that wait. */
  nextTry(): Promise<void>
}

/** Concurrent reads of each kind. A bus that supports fewer pages queues them itself. */
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

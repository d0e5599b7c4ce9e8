import { createSlots } from '../../../shared/semaphore.ts'

/** Limits the concurrent reads of all streams: thousands of streams that begin together must not block the datastore for others. */
export interface ReadLimiter {
  /** Reads the starting point of a stream. Above the limit, reads wait in the order of their arrival. */
  readStart<T>(read: () => Promise<T>): Promise<T>
  /** Reads a page of events. Pages have a separate limit: they are large, and starting points must not wait for them. */
  readPage<T>(read: () => Promise<T>): Promise<T>
  /** Resolves after the pause before a retry; one timer serves all callers. */
  retryPause(): Promise<void>
}

/** Maximum of concurrent reads of each kind. A bus that supports fewer pages queues them itself. */
const AT_ONCE_MAX = 64

export function createReadLimiter({ retryMs }: { readonly retryMs: number }): ReadLimiter {
  const [starts, pages] = [createSlots(AT_ONCE_MAX), createSlots(AT_ONCE_MAX)]
  let pause: Promise<void> | undefined

  return {
    readStart: (read) => starts.run(read),
    readPage: (read) => pages.run(read),
    retryPause() {
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

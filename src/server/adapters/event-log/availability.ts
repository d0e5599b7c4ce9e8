import type { Clock } from '../../ports/clock.ts'
import { DatastoreError, isUnwritable } from '../../ports/datastore.ts'
import { EventBusUnavailable } from '../../ports/event-bus.ts'

/** Tracks whether the log is available, from the result of every attempt. */
export interface Availability {
  /** Runs the work. @throws EventBusUnavailable when the datastore is unavailable or exceeds the deadline. */
  attempt<T>(work: () => Promise<T>): Promise<T>
  awaySinceMs(): number | undefined
}

/** People and agents wait for the result. Events of an attempt that timed out may still be stored; a retry stores them only once. */
const DEADLINE_MS = 5_000

export function createAvailability(clock: Clock, deadlineMs = DEADLINE_MS): Availability {
  let awaySinceMs: number | undefined

  function away(cause: unknown): EventBusUnavailable {
    awaySinceMs ??= clock.now()
    return new EventBusUnavailable(cause)
  }

  return {
    async attempt(work) {
      try {
        const result = await within(deadlineMs, work())
        awaySinceMs = undefined
        return result
      } catch (error) {
        if (isUnwritable(error)) throw away(error)
        throw error
      }
    },
    awaySinceMs: () => awaySinceMs,
  }
}

async function within<T>(deadlineMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const cause = new Error(`the event log did not answer within ${deadlineMs} ms`)
      reject(new DatastoreError('unavailable', undefined, cause))
    }, deadlineMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

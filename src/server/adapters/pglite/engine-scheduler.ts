import { DatastoreError, DatastoreOverloaded } from '../../ports/datastore.ts'
import { startDeadline } from '../postgres/start-deadline.ts'
import { createBoundedQueue, type BoundedQueue } from './bounded-queue.ts'

/** The queue in which a caller waits. The scheduler alternates between the two queues: a long one does not delay the other. */
export type QueueName = 'reserved' | 'common'

/** Schedules the engine's only session: statements and whole transactions use it one after another. */
export interface EngineScheduler {
  /**
   * Acquires the session.
   *
   * @throws DatastoreOverloaded at once when the queue is full.
   * @throws DatastoreError `unavailable` when the session is not free within the given ms.
   */
  acquire(queue: QueueName, deadlineMs: number): Promise<void>
  /** Releases the session. `answered` resolves when the last statement is answered; others may send statements before that. */
  release(answered?: Promise<void>): void
  /** Resolves when every statement is answered. */
  idle(): Promise<void>
}

/** Maximum of unanswered statements after a release: the engine executes one, and finds the other when it is done. */
const UNANSWERED_MAX = 2

/** Maximum of callers in one queue: about as many as the engine serves within the deadline of a request. Later ones would time out. */
const WAITING_MAX = 4_096

/** Creates a scheduler with the given maximum length of each queue. */
export function createEngineScheduler(waitingMax = WAITING_MAX): EngineScheduler {
  const queues: Readonly<Record<QueueName, BoundedQueue<() => void>>> = {
    reserved: createBoundedQueue(waitingMax),
    common: createBoundedQueue(waitingMax),
  }
  const unanswered = new Set<Promise<void>>()
  let isAcquired = false
  let last: QueueName = 'common'

  const isFree = (): boolean => !isAcquired && unanswered.size < UNANSWERED_MAX

  function advance(): void {
    if (!isFree()) return
    const other: QueueName = last === 'common' ? 'reserved' : 'common'
    const name = queues[other].isEmpty() ? last : other
    const begin = queues[name].dequeue()
    if (begin === undefined) return
    last = name
    isAcquired = true
    begin()
  }

  async function forget(answered: Promise<void>): Promise<void> {
    await answered
    unanswered.delete(answered)
    advance()
  }

  return {
    acquire(name, deadlineMs) {
      // While the session is free, both queues are empty.
      if (isFree()) {
        isAcquired = true
        return Promise.resolve()
      }
      return new Promise((resolve, reject) => {
        const leave = queues[name].enqueue(() => {
          deadline.clear()
          resolve()
        })
        if (leave === undefined)
          throw new DatastoreOverloaded(new Error(`${waitingMax} wait for the embedded datastore`))
        const deadline = startDeadline(deadlineMs, () => {
          leave()
          const cause = new Error(`the embedded datastore was busy for ${deadlineMs} ms`)
          reject(new DatastoreError('unavailable', undefined, cause))
        })
      })
    },
    release(answered) {
      isAcquired = false
      if (answered !== undefined) {
        unanswered.add(answered)
        void forget(answered)
      }
      advance()
    },
    async idle() {
      await Promise.all(unanswered)
    },
  }
}

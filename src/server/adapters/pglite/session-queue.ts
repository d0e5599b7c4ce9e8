import type { Client } from 'pg'
import { DatastoreError, DatastoreStopped } from '../../ports/datastore.ts'
import { startDeadline, type Deadline } from '../postgres/start-deadline.ts'
import { createSession, createStatementNames, type OwnedSession, type SessionPool } from '../postgres/session.ts'
import { BorrowedSession, type Lending } from './borrowed-session.ts'
import { createEngineScheduler, type QueueName } from './engine-scheduler.ts'

interface QueueOptions {
  readonly client: Client
  /** Why the engine no longer answers; undefined while it does. */
  readonly failure: () => Error | undefined
}

/**
 * Shares the engine's one session. A caller acquires it for a single statement, or for a transaction up to the statement
 * that ends it. The next caller sends its statement before that last statement is answered: the engine then finds it at
 * once, and is not idle while this thread is busy.
 */
export interface SessionQueue {
  /** A pool over the session, with a deadline for a statement and for a wait. */
  pool(queue: QueueName, deadlineMs: number): SessionPool
  /** Waits for earlier requests for the given time at most; refuses later ones. */
  close(deadlineMs: number): Promise<void>
}

export function createSessionQueue({ client, failure }: QueueOptions): SessionQueue {
  const names = createStatementNames()
  const scheduler = createEngineScheduler()
  let isClosed = false

  function assertServing(): void {
    if (isClosed) throw new DatastoreError('unavailable', undefined, new Error('the datastore is closed'))
    const cause = failure()
    if (cause !== undefined) throw new DatastoreStopped(cause)
  }

  async function acquire(queue: QueueName, deadlineMs: number): Promise<OwnedSession> {
    await scheduler.acquire(queue, deadlineMs)
    try {
      assertServing()
    } catch (error) {
      scheduler.release()
      throw error
    }
    return createSession({ client, names, deadlineMs, failure })
  }

  const sendLast: Lending['sendLast'] = (session, text, values) => {
    const answer = session.query(text, values)
    scheduler.release(session.settled())
    return answer
  }

  /** The engine cannot be interrupted: it must finish a statement that timed out. */
  async function undo(session: OwnedSession): Promise<void> {
    try {
      await session.settled()
      if (failure() === undefined) await client.query('rollback')
    } catch {
      // The next caller meets the same error and reports it.
    } finally {
      scheduler.release()
    }
  }

  async function acquireLast(deadlineMs: number): Promise<void> {
    await scheduler.acquire('common', deadlineMs)
    isClosed = true
    await scheduler.idle()
    scheduler.release()
  }

  return {
    pool(queue, deadlineMs) {
      const lending: Lending = { acquire: () => acquire(queue, deadlineMs), sendLast, undo }
      return {
        async acquire() {
          assertServing()
          return new BorrowedSession(lending)
        },
        release(session) {
          if (!(session instanceof BorrowedSession)) throw new Error('the session is not of this queue')
          void session.giveBack()
        },
      }
    },
    async close(deadlineMs) {
      let deadline: Deadline | undefined
      const late = new Promise<void>((resolve) => {
        deadline = startDeadline(deadlineMs, resolve)
      })
      // If the session is not released in time, the engine is closed without it.
      await Promise.race([acquireLast(deadlineMs).catch(() => undefined), late])
      deadline?.clear()
      isClosed = true
    },
  }
}

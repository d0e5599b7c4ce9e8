import type { Client } from 'pg'
import { DatastoreError, DatastoreStopped } from '../../ports/datastore.ts'
import { startDeadline, type Deadline } from '../postgres/start-deadline.ts'
import { createSession, createStatementNames, type OwnedSession, type SessionPool } from '../postgres/session.ts'
import { BorrowedSession, type Lending } from './borrowed-session.ts'
import { createEngineTurns, type Line } from './engine-turns.ts'

interface QueueOptions {
  readonly client: Client
  /** Why the engine no longer answers; undefined while it does. */
  readonly failure: () => Error | undefined
}

/**
 * The engine's one session, shared by turns. A statement of its own is a turn, and so is a transaction up to the statement
 * that ends it. Nobody waits for the answer to the last statement of a turn before the next begins: the engine finds that
 * one when it is done, and is not idle while this thread is busy.
 */
export interface SessionQueue {
  /** The queue as a pool, with a timeout for statements and for waits. */
  pool(line: Line, deadlineMs: number): SessionPool
  /** Waits for earlier requests for the given time at most; refuses later ones. */
  close(deadlineMs: number): Promise<void>
}

export function createSessionQueue({ client, failure }: QueueOptions): SessionQueue {
  const names = createStatementNames()
  const turns = createEngineTurns()
  let isClosed = false

  function assertServing(): void {
    if (isClosed) throw new DatastoreError('unavailable', undefined, new Error('the datastore is closed'))
    const cause = failure()
    if (cause !== undefined) throw new DatastoreStopped(cause)
  }

  async function take(line: Line, deadlineMs: number): Promise<OwnedSession> {
    await turns.take(line, deadlineMs)
    try {
      assertServing()
    } catch (error) {
      turns.end()
      throw error
    }
    return createSession({ client, names, deadlineMs, failure })
  }

  const sendLast: Lending['sendLast'] = (session, text, values) => {
    const answer = session.query(text, values)
    turns.end(session.settled())
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
      turns.end()
    }
  }

  async function lastTurn(deadlineMs: number): Promise<void> {
    await turns.take('common', deadlineMs)
    isClosed = true
    await turns.quiet()
    turns.end()
  }

  return {
    pool(line, deadlineMs) {
      const lending: Lending = { take: () => take(line, deadlineMs), sendLast, undo }
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
      // If no turn is available, the engine is closed without one.
      await Promise.race([lastTurn(deadlineMs).catch(() => undefined), late])
      deadline?.clear()
      isClosed = true
    },
  }
}

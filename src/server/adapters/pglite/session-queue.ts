import type { Client } from 'pg'
import { DatastoreError, DatastoreStopped } from '../../ports/datastore.ts'
import {
  createSession,
  createStatementNames,
  type OwnedSession,
  type Session,
  type SessionPool,
} from '../postgres/session.ts'

/** How long what was already asked may take once the store is to close. */
const CLOSE_DEADLINE_MS = 10_000

interface QueueOptions {
  readonly client: Client
  /** Why the engine no longer answers; undefined while it does. */
  readonly failure: () => Error | undefined
}

/** The engine's one session, handed out first come, first served: statements and whole transactions alike. */
export interface SessionQueue {
  /** The queue as a pool whose statements, and waits for a turn, may each take so long. */
  pool(deadlineMs: number): SessionPool
  /** Waits for its turn, then refuses every later one. */
  close(): Promise<void>
}

export function createSessionQueue({ client, failure }: QueueOptions): SessionQueue {
  const names = createStatementNames()
  const waiting: (() => void)[] = []
  let isTaken = false
  let isClosed = false
  let current: OwnedSession | undefined

  function refusal(): DatastoreError | undefined {
    if (isClosed) return new DatastoreError('unavailable', undefined, new Error('the datastore is closed'))
    const cause = failure()
    return cause && new DatastoreStopped(cause)
  }

  function passOn(): void {
    current = undefined
    const next = waiting.shift()
    if (next === undefined) isTaken = false
    else next()
  }

  function turn(deadlineMs: number): Promise<void> {
    if (!isTaken) {
      isTaken = true
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const taken = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(taken), 1)
        const cause = new Error(`the embedded datastore was busy for ${deadlineMs} ms`)
        reject(new DatastoreError('unavailable', undefined, cause))
      }, deadlineMs)
      waiting.push(taken)
    })
  }

  async function acquire(deadlineMs: number): Promise<Session> {
    await turn(deadlineMs)
    const refused = refusal()
    if (refused !== undefined) {
      passOn()
      throw refused
    }
    current = createSession({ client, names, deadlineMs, failure })
    return current
  }

  /** The engine cannot be interrupted: a statement that was given up on is waited for, and its transaction undone. */
  async function mend(session: OwnedSession): Promise<void> {
    await session.settled()
    if (failure() === undefined) await client.query('rollback')
  }

  function release(session: Session): void {
    if (current === undefined || session !== current) throw new Error('a session was released twice')
    // Whatever mending meets, the next in line meets it as well and reports it.
    if (current.broken === undefined) passOn()
    else mend(current).then(passOn, passOn)
  }

  return {
    pool: (deadlineMs) => ({ acquire: () => acquire(deadlineMs), release }),
    async close() {
      await turn(CLOSE_DEADLINE_MS)
      isClosed = true
      passOn()
    },
  }
}

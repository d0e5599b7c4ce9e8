import { type Connection, Pool, type PoolClient } from 'pg'
import { translateError } from './errors.ts'
import { createSession, type Session, type SessionPool, type StatementNames } from './session.ts'

export interface PoolSize {
  /** Connections kept open even when idle. */
  readonly min: number
  readonly max: number
}

export interface PgPoolOptions {
  readonly url: string
  readonly name: string
  readonly size: PoolSize
  /** How long one statement may take, in ms; the server cancels it then, and the client gives up a second later. */
  readonly statementDeadlineMs: number
  /** How long to wait for a free or new connection, in ms. */
  readonly acquireDeadlineMs: number
  readonly names: StatementNames
  /** Settings of its connections beside those that all have, as `name = value`. Default: none. */
  readonly settings?: readonly string[]
  /** Called with connections that died while idle. */
  readonly onIdleError: (error: unknown) => void
}

const CLIENT_GRACE_MS = 1_000
const IDLE_CLOSE_MS = 60_000
const KEEPALIVE_DELAY_MS = 10_000
/** Pause before the next attempt, after the loss of a connection of the minimum or a failed attempt. */
const FILL_AFTER_MS = 1_000

/**
 * The first statement of every connection. PgBouncer refuses start-up parameters, so a statement sets these values. A
 * client that stalls between statements must not hold row locks for longer than a statement may take. JIT is off:
 * compiling a short statement whose cost was overestimated takes a hundred times as long as running it.
 */
function setup(options: PgPoolOptions): string {
  return [
    `set statement_timeout = ${options.statementDeadlineMs}`,
    `set idle_in_transaction_session_timeout = ${options.statementDeadlineMs}`,
    `set application_name = 'ctl ${options.name}'`,
    `set timezone = 'UTC'`,
    `set datestyle = 'ISO'`,
    `set intervalstyle = 'postgres'`,
    `set client_min_messages = warning`,
    `set jit = off`,
    ...(options.settings ?? []).map((each) => `set ${each}`),
  ].join('; ')
}

/** Destroys the connection without a Terminate message, so that what waits on it fails at once. */
function sever(client: PoolClient): void {
  const { connection } = client as unknown as { connection: Connection }
  connection.stream.destroy()
}

export interface PgPool extends SessionPool {
  /** Opens the minimum of connections. */
  warm(): Promise<void>
  close(): Promise<void>
}

/** Opens a pool of connections and provides them as sessions. */
export function createPgPool(options: PgPoolOptions): PgPool {
  const pool = new Pool({
    connectionString: options.url,
    // Sessions send the beginning of a transaction and its first statement together.
    pipeline: true,
    min: options.size.min,
    max: options.size.max,
    connectionTimeoutMillis: options.acquireDeadlineMs,
    idleTimeoutMillis: IDLE_CLOSE_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY_MS,
  })
  let isClosing = false
  let filling: NodeJS.Timeout | undefined
  const open = new Set<PoolClient>()
  pool.on('error', (error) => isClosing || options.onIdleError(error))
  pool.on('connect', (client) => {
    open.add(client)
    // During setup and after the final release nothing else listens. The statements report the error; an event without
    // a listener would end the process.
    client.on('error', () => undefined)
  })
  pool.on('remove', (client) => {
    open.delete(client)
    if (open.size < options.size.min) fillSoon()
  })
  const held = new Map<Session, PoolClient>()
  /** The sessions of connections that are set up, one for each, for the lifetime of the connection. */
  const sessions = new WeakMap<PoolClient, Session>()

  async function acquire(): Promise<Session> {
    const client = await pool.connect().catch((error: unknown) => {
      throw translateError(error)
    })
    const session = sessions.get(client) ?? (await begin(client))
    held.set(session, client)
    return session
  }

  async function begin(client: PoolClient): Promise<Session> {
    try {
      await client.query(setup(options))
    } catch (error) {
      client.release(true)
      throw translateError(error)
    }
    const session = createSession({
      client,
      names: options.names,
      deadlineMs: options.statementDeadlineMs + CLIENT_GRACE_MS,
      sever: () => sever(client),
    })
    // A connection that is lost in use also fails its statement; the event adds no information.
    client.on('error', session.spoil)
    sessions.set(client, session)
    return session
  }

  function release(session: Session): void {
    const client = held.get(session)
    if (client === undefined) throw new Error('a session was released twice')
    held.delete(session)
    client.release(session.broken !== undefined)
  }

  /** Acquires the whole minimum before it releases the first connection, so that the pool opens the missing ones. */
  function fill(): Promise<PromiseSettledResult<void>[]> {
    return Promise.allSettled(Array.from({ length: options.size.min }, () => acquire().then(release)))
  }

  /**
   * Reopens lost connections of the minimum before they are needed, since no slot may be free then. The next statement reports
   * why one cannot be opened.
   */
  function fillSoon(): void {
    if (isClosing || filling !== undefined) return
    filling = setTimeout(() => {
      void fill().then(() => {
        filling = undefined
        if (open.size < options.size.min) fillSoon()
      })
    }, FILL_AFTER_MS)
    filling.unref()
  }

  return {
    acquire,
    release,
    async warm() {
      for (const each of await fill()) if (each.status === 'rejected') throw each.reason
    },
    async close() {
      isClosing = true
      clearTimeout(filling)
      // `end` resolves when the pool has asked its connections to end, not when they have ended.
      const ended = [...open].map((client) => new Promise((resolve) => client.once('end', resolve)))
      await pool.end()
      await Promise.all(ended)
    },
  }
}

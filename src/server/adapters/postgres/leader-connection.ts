import { Client, type Connection } from 'pg'
import { translateError } from './errors.ts'
import { createSession, type Session } from './session.ts'

/** A separate connection outside of the pools. */
export interface LeaderConnection {
  readonly session: Session
  /** The process id that the server, or a pooler in front of it, sent when the connection was opened. */
  readonly announcedPid: number | null
  /** Aborted when either side has ended the connection. */
  readonly gone: AbortSignal
  onNotification(listener: () => void): void
  close(): Promise<void>
}

const CONNECT_DEADLINE_MS = 3_000
const ANSWER_DEADLINE_MS = 2_000
const KEEPALIVE_DELAY_MS = 1_000
const unnamed = (): undefined => undefined

/** Opens the connection and sends no statement. @throws DatastoreError `unavailable`. */
export async function openLeaderConnection(url: string): Promise<LeaderConnection> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_DEADLINE_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY_MS,
  })
  const gone = new AbortController()
  client.on('error', (error) => gone.abort(error))
  client.once('end', () => gone.abort())
  // The driver's types leave out its socket and the process id that it was given.
  const driver = client as unknown as { readonly connection: Connection; readonly processID: number | null }
  const sever = (): void => void driver.connection.stream.destroy()
  const session = createSession({ client, names: unnamed, deadlineMs: ANSWER_DEADLINE_MS, sever })
  try {
    await client.connect()
  } catch (error) {
    sever()
    throw translateError(error)
  }
  return {
    session,
    announcedPid: driver.processID,
    gone: gone.signal,
    onNotification: (listener) => void client.on('notification', listener),
    async close() {
      if (gone.signal.aborted || session.broken !== undefined) return sever()
      const late = setTimeout(sever, ANSWER_DEADLINE_MS)
      await client.end().finally(() => clearTimeout(late))
    },
  }
}

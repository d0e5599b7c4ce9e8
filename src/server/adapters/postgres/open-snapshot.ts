import { Client, type Connection } from 'pg'
import type { OpenSnapshot } from '../../ports/snapshot.ts'
import { translateError } from './errors.ts'
import { beginReading } from './snapshot-reader.ts'

const CONNECT_DEADLINE_MS = 10_000
const KEEPALIVE_DELAY_MS = 10_000

/**
 * Snapshots of a PostgreSQL: one read-only transaction on a connection of its own, outside of the pools and their
 * deadlines. While it is open the server cannot remove old versions of any row (the horizon of vacuum).
 */
export function createSnapshots(url: string): OpenSnapshot {
  return async ({ signal }) => {
    signal.throwIfAborted()
    const client = new Client({
      connectionString: url,
      application_name: 'ctl backup',
      connectionTimeoutMillis: CONNECT_DEADLINE_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEPALIVE_DELAY_MS,
    })
    // A lost connection fails the statement that waits, or the next one.
    client.on('error', () => undefined)
    // The driver's types leave out its socket.
    const { connection } = client as unknown as { readonly connection: Connection }
    const sever = (): void => void connection.stream.destroy()
    signal.addEventListener('abort', sever, { once: true })
    const close = async (): Promise<void> => {
      signal.removeEventListener('abort', sever)
      if (signal.aborted) sever()
      // The server ends the transaction with the connection.
      else await client.end().catch(sever)
    }
    try {
      await client.connect()
      return { ...(await beginReading(client)), close }
    } catch (error) {
      await close()
      throw translateError(error)
    }
  }
}

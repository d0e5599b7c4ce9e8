import { DatastoreError } from '../../ports/datastore.ts'
import type { LeaderSeat } from '../../ports/leader-seat.ts'
import { openLeaderConnection } from './leader-connection.ts'
import { OUTBOX_CHANNEL } from './outbox-hints.ts'

/** Keys of the advisory lock that the leader holds: any pair that nothing else uses. */
const LOCK = [7_210, 443] as const

/** The client waits one second longer. */
const STATEMENT_DEADLINE_MS = 1_000
/**
 * A suspended process keeps its socket, and keepalive does not detect it. The server therefore ends a session that has
 * sent nothing for this long; another process can then take the lock. A leader itself detects the loss earlier: it
 * checks every second and waits two seconds for the answer.
 */
const SILENCE_MS = 5_000

const SETUP = [
  `set statement_timeout = ${STATEMENT_DEADLINE_MS}`,
  `set lock_timeout = ${STATEMENT_DEADLINE_MS}`,
  `set idle_session_timeout = ${SILENCE_MS}`,
  `set application_name = 'ctl leader'`,
  `set client_min_messages = warning`,
  `listen ${OUTBOX_CHANNEL}`,
].join('; ')

const TAKE = 'select pg_try_advisory_lock($1::integer, $2::integer) as held'

/** Reads the server's list of locks: a pooler may have given this client another session. */
const PROVE = `
  select exists (
    select from pg_locks
    where locktype = 'advisory' and classid = $1::integer::oid and objid = $2::integer::oid and objsubid = 2
      and granted and pid = pg_backend_pid()
  ) as held`

/**
 * Opens a seat on a separate connection. Its session also listens for new outbox rows; a lost hint costs one polling
 * interval.
 */
export async function openLeaderSeat(url: string, onHint: () => void): Promise<LeaderSeat> {
  const connection = await openLeaderConnection(url)
  connection.onNotification(onHint)
  let isHeld = false

  async function ask(text: string): Promise<boolean> {
    const { rows } = await connection.session.query(text, LOCK)
    return (rows as { held: boolean }[])[0]?.held === true
  }

  try {
    await connection.session.query(SETUP, [])
  } catch (error) {
    await connection.close()
    throw error
  }
  return {
    gone: connection.gone,
    async hold() {
      if (!isHeld) return (isHeld = await ask(TAKE))
      if (await ask(PROVE)) return true
      throw new DatastoreError(
        'unavailable',
        undefined,
        new Error('the session no longer holds the lock of the leader'),
      )
    },
    leave: () => connection.close(),
  }
}

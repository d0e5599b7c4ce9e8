import { BootError } from '../../ports/boot-error.ts'
import { type LeaderConnection, openLeaderConnection } from './leader-connection.ts'

/**
 * How often the check is repeated to detect a pooler. A pooler hands out the session that was returned last, or all in turn:
 * the first round shows either, unless others use the same pooler at that moment.
 */
const ROUNDS = 8

/**
 * Makes sure that what this process does on one connection happens in one session of the server: leadership is an
 * advisory lock, which belongs to a session. A pooler gives its own process id in the place of the server's; behind one
 * that lends sessions by the transaction, a connection finds itself in different sessions, or two are found in the same.
 *
 * @throws BootError when sessions are lent by the transaction. DatastoreError when the server does not answer.
 */
export async function assertOwnSessions(url: string): Promise<void> {
  const first = await openLeaderConnection(url)
  try {
    const pid = await pidOf(first)
    if (pid === first.announcedPid) return
    const second = await openLeaderConnection(url)
    try {
      for (let round = 0; round < ROUNDS; round++) await compare(first, second, pid)
    } finally {
      await second.close()
    }
  } finally {
    await first.close()
  }
}

/** The second connection keeps its session by an open transaction while the first one looks where it is. */
async function compare(first: LeaderConnection, second: LeaderConnection, pid: number): Promise<void> {
  // In statement mode there are no transactions.
  await second.session.query('begin', []).catch((error: unknown) => {
    throw lent(error)
  })
  const other = await pidOf(second)
  if (other === pid) throw lent()
  // If the pooler has a single session, nothing is left for the first connection: it times out.
  const again = await pidOf(first).catch((error: unknown) => {
    throw lent(error)
  })
  if (again !== pid) throw lent()
  await second.session.query('commit', [])
}

async function pidOf({ session }: LeaderConnection): Promise<number> {
  const { rows } = await session.query('select pg_backend_pid() as pid', [])
  const [row] = rows as { pid: number }[]
  if (row === undefined) throw new Error('the server did not name its process')
  return row.pid
}

function lent(cause?: unknown): BootError {
  return new BootError(
    1,
    'A connection pooler in transaction or statement mode is between this server and PostgreSQL: point --database-url at PostgreSQL directly or at a session-mode pool.',
    cause,
  )
}

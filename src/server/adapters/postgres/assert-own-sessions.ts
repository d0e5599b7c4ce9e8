import { BootError } from '../../ports/boot-error.ts'
import { type LeaderConnection, openLeaderConnection } from './leader-connection.ts'

/**
 * How often the check is repeated. A pooler hands out the session that was returned last, or all sessions in a cycle.
 * The first round detects both, unless other clients use the pooler at that moment.
 */
const ROUNDS = 8

/**
 * Checks that each connection of this process keeps one session of the server. Leadership is an advisory lock, and a
 * session owns that lock. A pooler announces its own process id instead of the server's. Behind a pooler in transaction
 * mode, one connection uses several sessions, or two connections use the same session.
 *
 * @throws BootError when a pooler lends sessions for single transactions or statements. DatastoreError when the server
 * does not answer.
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

/**
 * The second connection keeps its session with an open transaction. Meanwhile the first connection reads its own
 * process id.
 */
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

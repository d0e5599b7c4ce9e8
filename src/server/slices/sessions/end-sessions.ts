import type { Change } from '../../ports/unit-of-work.ts'
import { isLive } from './session.ts'
import { deleteSessions, type Ending } from './store.ts'

/**
 * Ends sessions, on every replica before its lease ends, and returns how many were live. Ended sessions are
 * deleted; the audit log keeps their records.
 */
export async function endSessions(change: Change, ending: Ending, now: Date): Promise<number> {
  const ended = await deleteSessions(change.db, ending)
  for (const { id } of ended) change.credentialChanged('session', id)
  return ended.filter((session) => isLive(session, now)).length
}

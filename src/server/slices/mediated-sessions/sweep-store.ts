import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import { holdNodes } from '../../sql/hold-node.ts'
import type { SessionRecord } from './store.ts'

/** A session that has expired or was idle for too long. */
export type Ended = Pick<SessionRecord, 'id' | 'node_id' | 'domain_id' | 'revoked_at'>

/** Live sessions that are over at that moment: past their expiry, or unused for longer than they may be. */
const isOver = (now: Date) => sql<boolean>`ended_at is null and (
  expires_at <= ${now}
  or coalesce(last_active_at, issued_at) + idle_timeout_seconds * interval '1 second' <= ${now}
)`

/**
 * Ends sessions that are over, the earliest first. One that was unused for too long is revoked, as somebody would have
 * done; activity that came first leaves it live.
 */
export async function endOver(tx: Db, now: Date, max: number): Promise<readonly Ended[]> {
  const due = await tx
    .selectFrom('mediated_sessions')
    .select(['id', 'node_id'])
    .where(isOver(now))
    .orderBy('expires_at')
    .limit(max)
    .execute()
  if (due.length === 0) return []
  await holdNodes(
    tx,
    due.map(({ node_id }) => node_id),
  )
  const ids = due.map(({ id }) => id)
  return tx
    .updateTable('mediated_sessions')
    .set({ ended_at: now, revoked_at: sql<Date | null>`case when expires_at > ${now} then ${now}::timestamptz end` })
    .where('id', 'in', ids)
    .where(isOver(now))
    .returning(['id', 'node_id', 'domain_id', 'revoked_at'])
    .execute()
}

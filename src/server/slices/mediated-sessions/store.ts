import { sql, type Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import { byIdDescending } from '../../sql/keyset.ts'
import type { Tables } from '../../ports/tables/tables.ts'

export type SessionRecord = Selectable<Tables['mediated_sessions']>

/** Which sessions to list. */
export interface SessionFilter {
  readonly projectId: string
  readonly now: Date
}

export async function insertSession(tx: Db, session: SessionRecord): Promise<void> {
  await tx.insertInto('mediated_sessions').values(session).execute()
}

/** Reads a Project's live sessions, newest first. */
export function readLive(db: Db, { projectId, now }: SessionFilter, range: PageRange): Promise<SessionRecord[]> {
  const live = db
    .selectFrom('mediated_sessions')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now)
  return byIdDescending.page(live, range).execute()
}

/** The node of a live session of the Project; undefined when there is no such session. */
export async function nodeOfLive(
  db: Db,
  session: { readonly id: string; readonly projectId: string; readonly now: Date },
): Promise<string | undefined> {
  const live = await db
    .selectFrom('mediated_sessions')
    .select('node_id')
    .where('id', '=', session.id)
    .where('project_id', '=', session.projectId)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', session.now)
    .executeTakeFirst()
  return live?.node_id
}

/** Revokes a session that is live; undefined when it is no longer. */
export function revokeLive(tx: Db, id: string, now: Date): Promise<SessionRecord | undefined> {
  return tx
    .updateTable('mediated_sessions')
    .set({ revoked_at: now, ended_at: now })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst()
}

/** Locks one session until the transaction ends. Under another node it does not exist. */
export function lockSession(
  tx: Db,
  { id, nodeId }: { readonly id: string; readonly nodeId: string },
): Promise<SessionRecord | undefined> {
  return tx
    .selectFrom('mediated_sessions')
    .selectAll()
    .where('id', '=', id)
    .where('node_id', '=', nodeId)
    .forUpdate()
    .executeTakeFirst()
}

/** Records that a session was in use. If reports arrive out of order, the later instant stays. */
export async function touch(tx: Db, id: string, at: Date): Promise<void> {
  await tx
    .updateTable('mediated_sessions')
    .set({ last_active_at: sql<Date>`greatest(last_active_at, ${at}::timestamptz)` })
    .where('id', '=', id)
    .execute()
}

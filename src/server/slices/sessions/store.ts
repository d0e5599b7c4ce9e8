import { sql, type Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import { byCreatedAtDescending } from '../../sql/keyset.ts'
import type { SessionRow } from './tables.ts'
import { idleSince } from './session.ts'

export type SessionRecord = Selectable<SessionRow>

/** A session with the facts about its user. */
export interface SessionWithPerson extends SessionRecord {
  readonly display_name: string
  readonly disabled_at: Date | null
}

export async function insertSession(db: Db, session: SessionRecord): Promise<void> {
  await db
    .insertInto('sessions')
    .values({ ...session, amr: JSON.stringify(session.amr) })
    .execute()
}

/** Locks the person, so that sessions are counted and opened by one sign-in at a time. */
export async function lockPerson(db: Db, principalId: string): Promise<void> {
  await db.selectFrom('principals').select('id').where('id', '=', principalId).forNoKeyUpdate().execute()
}

/** The session of a cookie's fingerprint, live or not; undefined where it has been ended. */
export function findByFingerprint(db: Db, fingerprint: Buffer): Promise<SessionWithPerson | undefined> {
  return db
    .selectFrom('sessions as session')
    .innerJoin('principals as person', 'person.id', 'session.principal_id')
    .selectAll('session')
    .select(['person.display_name', 'person.disabled_at'])
    .where('session.fingerprint', '=', fingerprint)
    .executeTakeFirst()
}

const live = (db: Db, principalId: string, now: Date) =>
  db
    .selectFrom('sessions')
    .where('principal_id', '=', principalId)
    .where('expires_at', '>', now)
    .where('last_seen_at', '>', idleSince(now))

/** The newest of a person's live sessions. */
export interface NewestLive {
  readonly principalId: string
  readonly now: Date
  readonly count: number
}

/** The newest of the person's live sessions, newest first. */
export function listLive(db: Db, { principalId, now, count }: NewestLive): Promise<SessionRecord[]> {
  return byCreatedAtDescending
    .sorted(live(db, principalId, now).selectAll())
    .limit(count)
    .execute()
}

/** Deletes the person's sessions except the newest ones that are live. Resolves with the ids of those deleted. */
export async function deleteBeyond(db: Db, { principalId, now, count }: NewestLive): Promise<readonly string[]> {
  const newest = byCreatedAtDescending.sorted(live(db, principalId, now).select(['id', 'created_at'])).limit(count)
  const kept = db.selectFrom(newest.as('newest')).select('id')
  const rows = await db
    .deleteFrom('sessions')
    .where('principal_id', '=', principalId)
    .where('id', 'not in', kept)
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** The sessions to end. */
export type Ending =
  | { readonly principalId: string }
  | { readonly principalId: string; readonly exceptId: string }
  | { readonly bindingId: string }
  | { readonly fingerprint: Buffer }
  | { readonly id: string; readonly principalId: string }

/** Deletes sessions; returns the deleted rows. */
export function deleteSessions(db: Db, ending: Ending): Promise<SessionRecord[]> {
  let query = db.deleteFrom('sessions')
  if ('id' in ending) query = query.where('id', '=', ending.id)
  if ('principalId' in ending) query = query.where('principal_id', '=', ending.principalId)
  if ('exceptId' in ending) query = query.where('id', '!=', ending.exceptId)
  if ('bindingId' in ending) query = query.where('binding_id', '=', ending.bindingId)
  if ('fingerprint' in ending) query = query.where('fingerprint', '=', ending.fingerprint)
  return query.returningAll().execute()
}

/** Deletes up to the given number of ended sessions of anybody; returns their ids. */
export async function deleteEnded(db: Db, now: Date, count: number): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    delete from sessions where id in (
      select id from sessions where expires_at <= ${now} or last_seen_at <= ${idleSince(now)}
      order by id limit ${count} for update skip locked
    ) returning id`.execute(db)
  return rows.map(({ id }) => id)
}

/** Stores uses that are a minute or more newer than the stored one. Rows are locked in the order of their ids, against deadlocks between replicas. */
export async function writeUses(db: Db, uses: readonly { readonly id: string; readonly at: Date }[]): Promise<void> {
  await sql`
    with used as (
      select session.id, use.at
      from unnest(${uses.map(({ id }) => id)}::uuid[], ${uses.map(({ at }) => at.toISOString())}::timestamptz[]) as use (id, at)
      join sessions as session on session.id = use.id
      where session.last_seen_at <= use.at - interval '1 minute'
      order by session.id
      for no key update of session
    )
    update sessions set last_seen_at = used.at from used where sessions.id = used.id
  `.execute(db)
}

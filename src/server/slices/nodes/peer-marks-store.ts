import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'

/** The revision of a Domain's peers at an instant; it is valid until the next mark. */
export interface PeerMark {
  readonly domainId: string
  readonly atMs: number
  readonly revision: number
}

/** Marks the Domains whose peers have changed since their last mark. */
export async function markPeers(tx: Db, nowMs: number): Promise<void> {
  await sql`
    insert into domain_peer_marks (domain_id, at, revision)
    select p.domain_id, ${new Date(nowMs)}, p.revision
    from domain_peers p
    left join lateral (
      select revision from domain_peer_marks where domain_id = p.domain_id order by at desc limit 1
    ) as last on true
    where p.revision > coalesce(last.revision, 0)
    on conflict (domain_id, at) do nothing`.execute(tx)
}

/** Deletes the marks before that instant; the last one of a Domain stays, since it is still valid. */
export async function forgetMarks(tx: Db, beforeMs: number): Promise<void> {
  await sql`
    delete from domain_peer_marks old
    where old.at < ${new Date(beforeMs)} and exists (
      select from domain_peer_marks newer where newer.domain_id = old.domain_id and newer.at > old.at
    )`.execute(tx)
}

/** All marks, grouped by Domain, the newest first. */
export async function readMarks(db: Db): Promise<readonly PeerMark[]> {
  const rows = await db
    .selectFrom('domain_peer_marks')
    .select(['domain_id', 'at', 'revision'])
    .orderBy('domain_id')
    .orderBy('at', 'desc')
    .execute()
  return rows.map((row) => ({ domainId: row.domain_id, atMs: row.at.getTime(), revision: Number(row.revision) }))
}

import { sql } from 'kysely'
import type { Db } from '../ports/datastore.ts'

/** A platform administrator, with the tuple that grants the role. */
export interface PlatformAdmin {
  readonly tupleId: string
  /** Id of the user or service identity. */
  readonly id: string
}

/**
 * Who administers the platform by name and without condition, and can still act: neither a disabled service identity, nor
 * a user who is disabled or whose local account is disabled or gone. Their tuples are locked until the transaction ends, in
 * one order. The second statement has a newer snapshot than the lock (READ COMMITTED), so that of two callers who each take
 * one administrator away the second sees the loss.
 */
export async function lockActingPlatformAdmins(db: Db): Promise<readonly PlatformAdmin[]> {
  await sql`select t.id from relation_tuples t where ${IS_ADMIN} order by t.id for update`.execute(db)
  const { rows } = await sql<PlatformAdmin>`
    select t.id as "tupleId", t.subject_id as id from relation_tuples t
    left join principals p on p.id::text = t.subject_id
    where ${IS_ADMIN}
      and (p.id is null or (p.disabled_at is null and (
        p.kind = 'service-identity'
        or exists (select 1 from local_accounts a where a.principal_id = p.id and a.disabled_at is null)
        or not exists (select 1 from idp_bindings b where b.id = p.binding_id and b.is_bundled))))
    order by t.id`.execute(db)
  return rows
}

const IS_ADMIN = sql`t.resource_type = 'platform' and t.resource_id = 'main' and t.relation = 'admin'
  and not t.structural and t.state = 'live' and t.subject_relation = '' and t.caveat_name = ''`

/** Whether the platform would have no acting administrator without these. */
export async function areLastPlatformAdmins(db: Db, isAmong: (admin: PlatformAdmin) => boolean): Promise<boolean> {
  const admins = await lockActingPlatformAdmins(db)
  return admins.length > 0 && admins.every(isAmong)
}

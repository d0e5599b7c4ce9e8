import type { Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { Tables } from '../../ports/tables/tables.ts'

export type RelayRecord = Selectable<Tables['bridge_relays']>

export function findRelay(db: Db, resourceId: string): Promise<RelayRecord | undefined> {
  return db.selectFrom('bridge_relays').selectAll().where('resource_id', '=', resourceId).executeTakeFirst()
}

/** Inserts the relay, or replaces all but its time of creation. */
export function putRelay(db: Db, row: RelayRecord): Promise<RelayRecord> {
  const { enabled, listen_port, updated_at } = row
  return db
    .insertInto('bridge_relays')
    .values(row)
    .onConflict((conflict) => conflict.column('resource_id').doUpdateSet({ enabled, listen_port, updated_at }))
    .returningAll()
    .executeTakeFirstOrThrow()
}

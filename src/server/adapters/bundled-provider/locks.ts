import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'

/** Serialises what several replicas would otherwise make at once; held until the transaction ends. */
export async function lockProvider(db: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(${0x63746c_20}::bigint)`.execute(db)
}

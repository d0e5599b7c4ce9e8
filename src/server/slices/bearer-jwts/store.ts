import { sql } from 'kysely'
import { isNonZeroUuid } from '../../../shared/ids.ts'
import type { Db } from '../../ports/datastore.ts'

/**
 * The Domain that a platform-shared binding may speak for, by its id or slug: one where nobody signs in with a binding of its own (S0
 * Authentication surface). Undefined where there is none.
 */
export async function findSharedDomain(db: Db, name: string): Promise<string | undefined> {
  const domain = await db
    .selectFrom('domains')
    .select('id')
    .where(isNonZeroUuid(name) ? 'id' : 'slug', '=', name)
    .where(sql<boolean>`not exists (select from idp_bindings where domain_id = domains.id and is_active and signs_in)`)
    .executeTakeFirst()
  return domain?.id
}

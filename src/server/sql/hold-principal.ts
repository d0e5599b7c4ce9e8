import type { Db } from '../ports/datastore.ts'

/**
 * Keeps a principal from being deleted until the transaction ends; false when there is none, or none in `domainId` where
 * that is given. Held before Domains and nodes.
 */
export async function holdPrincipal(tx: Db, id: string, domainId?: string): Promise<boolean> {
  const principal = await tx
    .selectFrom('principals')
    .select('id')
    .where('id', '=', id)
    .$if(domainId !== undefined, (query) => query.where('domain_id', '=', domainId ?? ''))
    .forKeyShare()
    .executeTakeFirst()
  return principal !== undefined
}

import type { Db } from '../ports/datastore.ts'

/** Keeps the Domain from being deleted until the transaction ends; false when there is none. */
export async function holdDomain(tx: Db, domainId: string): Promise<boolean> {
  const domain = await tx.selectFrom('domains').select('id').where('id', '=', domainId).forKeyShare().executeTakeFirst()
  return domain !== undefined
}

import type { Db } from '../ports/datastore.ts'

/** Keeps a principal from being deleted until the transaction ends; false when there is none. Held before Domains and nodes. */
export async function holdPrincipal(tx: Db, id: string): Promise<boolean> {
  const principal = await tx.selectFrom('principals').select('id').where('id', '=', id).forKeyShare().executeTakeFirst()
  return principal !== undefined
}

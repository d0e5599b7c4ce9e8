import { sql, type Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import { holdDomain } from '../../sql/hold-domain.ts'
import type { SignInRow } from './tables.ts'

/** An unfinished sign-in. */
export type Begun = Selectable<SignInRow>

/** Keeps Domain and binding until the transaction ends; false when one of them was deleted. */
export async function holdPlace(tx: Db, { domain_id, binding_id }: Begun): Promise<boolean> {
  if (!(await holdDomain(tx, domain_id))) return false
  const binding = tx.selectFrom('idp_bindings').select('id').where('id', '=', binding_id).forKeyShare()
  return (await binding.executeTakeFirst()) !== undefined
}

export async function insertBegun(tx: Db, begun: Begun): Promise<void> {
  await tx.insertInto('sign_ins').values(begun).execute()
}

/** Whether at least that many sign-ins are open at that moment. */
export async function areOpen(db: Db, count: number, now: Date): Promise<boolean> {
  const last = await db
    .selectFrom('sign_ins')
    .select(sql<number>`1`.as('one'))
    .where('expires_at', '>', now)
    .offset(count - 1)
    .limit(1)
    .executeTakeFirst()
  return last !== undefined
}

/** Takes and deletes the sign-in that this browser began with this state. */
export function takeBegun(db: Db, key: Pick<Begun, 'state_hash' | 'browser_hash'>): Promise<Begun | undefined> {
  return db
    .deleteFrom('sign_ins')
    .where('state_hash', '=', key.state_hash)
    .where('browser_hash', '=', key.browser_hash)
    .returningAll()
    .executeTakeFirst()
}

/** The slug of a Domain. */
export async function findSlug(db: Db, domainId: string): Promise<string | undefined> {
  return (await db.selectFrom('domains').select('slug').where('id', '=', domainId).executeTakeFirst())?.slug
}

/** Serializes first sign-ins in the Domain, so that nobody is created twice. False when it was deleted. */
export async function holdArrivals(tx: Db, domainId: string): Promise<boolean> {
  const domain = tx.selectFrom('domains').select('id').where('id', '=', domainId).forNoKeyUpdate()
  return (await domain.executeTakeFirst()) !== undefined
}

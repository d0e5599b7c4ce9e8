import { sql, type Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { LocalPasskeyRow } from './tables.ts'
import type { AccountRecord } from './store.ts'

export type PasskeyRecord = Selectable<LocalPasskeyRow>

/** An account with the slug of its Domain. */
export type PlacedAccount = AccountRecord & { readonly domain: string }

const placed = (db: Db) =>
  db
    .selectFrom('local_accounts')
    .innerJoin('domains', 'domains.id', 'local_accounts.domain_id')
    .selectAll('local_accounts')
    .select('domains.slug as domain')

export function findById(db: Db, id: string): Promise<PlacedAccount | undefined> {
  return placed(db).where('local_accounts.id', '=', id).executeTakeFirst()
}

/** By login, or by address where no login matches. */
export async function findByLogin(db: Db, login: string): Promise<PlacedAccount | undefined> {
  const found = await placed(db)
    .where((on) => on.or([on('local_accounts.login', '=', login), on('local_accounts.email', '=', login)]))
    .limit(2)
    .execute()
  return found.find((account) => account.login === login) ?? found[0]
}

export function passkeysOf(db: Db, accountId: string): Promise<PasskeyRecord[]> {
  return db.selectFrom('local_passkeys').selectAll().where('account_id', '=', accountId).orderBy('created_at').execute()
}

export function findPasskey(db: Db, credentialId: string): Promise<PasskeyRecord | undefined> {
  return db.selectFrom('local_passkeys').selectAll().where('credential_id', '=', credentialId).executeTakeFirst()
}

/** The instant until which an account is locked after that many failures. */
export type RestAfter = (failures: number) => Date | null

/**
 * Counts a guess as a failure before it is checked, and locks the account after too many. False when it
 * is locked already: then nothing is counted, or the lock would never end.
 */
export async function countGuess(db: Db, id: string, { now, restAfter }: { now: Date; restAfter: RestAfter }) {
  const row = await db
    .selectFrom('local_accounts')
    .select(['failed_count', 'locked_until'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  if (row === undefined || (row.locked_until !== null && row.locked_until > now)) return false
  const failures = row.failed_count + 1
  await db
    .updateTable('local_accounts')
    .set({ failed_count: failures, locked_until: restAfter(failures) })
    .where('id', '=', id)
    .execute()
  return true
}

/** Takes back the last count: the guess was right. */
export async function forgiveGuess(db: Db, id: string): Promise<void> {
  await db
    .updateTable('local_accounts')
    .set({ failed_count: sql`greatest(failed_count - 1, 0)`, locked_until: null })
    .where('id', '=', id)
    .execute()
}

/** Takes back the last count: the guess was not checked. A lock that has begun stays, since other guesses may have caused it. */
export async function uncountGuess(db: Db, id: string): Promise<void> {
  await db
    .updateTable('local_accounts')
    .set({ failed_count: sql`greatest(failed_count - 1, 0)` })
    .where('id', '=', id)
    .execute()
}

/** Stores another hash of the same password, unless that was changed meanwhile. */
export async function replaceHash(
  db: Db,
  id: string,
  { old, fresh }: { readonly old: string; readonly fresh: string },
): Promise<void> {
  await db
    .updateTable('local_accounts')
    .set({ password_hash: fresh })
    .where('id', '=', id)
    .where('password_hash', '=', old)
    .execute()
}

/** Records that a step was used; false when it or a later one was used before. */
export async function takeStep(db: Db, id: string, step: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('local_accounts')
    .set({ totp_last_step: String(step) })
    .where('id', '=', id)
    .where((on) => on.or([on('totp_last_step', 'is', null), on('totp_last_step', '<', String(step))]))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Advances a passkey's counter. One that does not count stays at zero (WebAuthn Level 3 §6.1.1). */
export async function moveCounter(db: Db, credentialId: string, { counter, at }: { counter: number; at: Date }) {
  const { numUpdatedRows } = await db
    .updateTable('local_passkeys')
    .set({ counter: String(counter), last_used_at: at })
    .where('credential_id', '=', credentialId)
    .where((on) =>
      on.or([on('counter', '<', String(counter)), on.and([on('counter', '=', '0'), on.lit(counter === 0)])]),
    )
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Adds the passkey unless the account has `max`; false then, or when it is known. */
export async function insertPasskey(db: Db, passkey: PasskeyRecord, max: number): Promise<boolean> {
  const { count } = await db
    .selectFrom('local_passkeys')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('account_id', '=', passkey.account_id)
    .executeTakeFirstOrThrow()
  if (Number(count) >= max) return false
  const inserted = await db
    .insertInto('local_passkeys')
    .values({ ...passkey, transports: JSON.stringify(passkey.transports) })
    .onConflict((conflict) => conflict.column('credential_id').doNothing())
    .returning('credential_id')
    .executeTakeFirst()
  return inserted !== undefined
}

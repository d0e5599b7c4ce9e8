import { type Selectable, type Updateable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import { byLogin } from '../../sql/keyset.ts'
import { conflictsAs, type Conflicts } from '../../sql/unique.ts'
import type { LocalAccountRow } from '../../ports/tables/identity.ts'
import type { FactorPolicy } from './factor-policy.ts'

export type AccountRecord = Selectable<LocalAccountRow>

/** An account as lists show it. */
export interface ListedAccount extends AccountRecord {
  readonly passkeys: number
}

const withPasskeys = (db: Db) =>
  db
    .selectFrom('local_accounts')
    .selectAll('local_accounts')
    .select((row) =>
      row
        .selectFrom('local_passkeys')
        .whereRef('local_passkeys.account_id', '=', 'local_accounts.id')
        .select(({ fn }) => fn.countAll<string>().as('passkeys'))
        .as('passkeys'),
    )

const counted = <T extends { readonly passkeys: string | null }>(row: T) => ({ ...row, passkeys: Number(row.passkeys) })

const CONFLICTS: Conflicts = {
  local_accounts_login_key: 'account_already_exists',
  local_accounts_email_key: 'account_already_exists',
}

/** @throws Problem `account_already_exists` where the login or the address is another account's. */
export async function insertAccount(db: Db, account: AccountRecord): Promise<void> {
  await conflictsAs(db.insertInto('local_accounts').values(account).execute(), CONFLICTS)
}

/** Reads accounts by login. */
export async function listAccounts(db: Db, range: PageRange): Promise<ListedAccount[]> {
  return (await byLogin.page(withPasskeys(db), range).execute()).map(counted)
}

export async function findListed(db: Db, id: string): Promise<ListedAccount | undefined> {
  const row = await withPasskeys(db).where('id', '=', id).executeTakeFirst()
  return row && counted(row)
}

export function findAccountByLogin(db: Db, login: string): Promise<AccountRecord | undefined> {
  return db.selectFrom('local_accounts').selectAll().where('login', '=', login).executeTakeFirst()
}

/** The account that a user signs in with. */
export function findAccountOf(db: Db, userId: string): Promise<AccountRecord | undefined> {
  return db.selectFrom('local_accounts').selectAll().where('principal_id', '=', userId).executeTakeFirst()
}

/** The same, locked until the transaction ends. */
export function lockAccountOf(db: Db, userId: string): Promise<AccountRecord | undefined> {
  return db.selectFrom('local_accounts').selectAll().where('principal_id', '=', userId).forUpdate().executeTakeFirst()
}

/** Locked until the transaction ends. */
export function lockAccount(db: Db, id: string): Promise<AccountRecord | undefined> {
  return db.selectFrom('local_accounts').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

/** The user that an account signs in as. */
export async function findUserOf(db: Db, id: string): Promise<string | undefined> {
  const account = db.selectFrom('local_accounts').select('principal_id').where('id', '=', id)
  return (await account.executeTakeFirst())?.principal_id
}

/**
 * Writes the values; false when the account is gone.
 * @throws Problem `account_already_exists` where the address is another account's.
 */
export async function updateAccount(db: Db, id: string, values: Updateable<LocalAccountRow>): Promise<boolean> {
  const write = db.updateTable('local_accounts').set(values).where('id', '=', id).executeTakeFirst()
  const { numUpdatedRows } = await conflictsAs(write, CONFLICTS)
  return numUpdatedRows > 0n
}

/** With its passkeys. */
export async function deleteAccount(db: Db, id: string): Promise<void> {
  await db.deleteFrom('local_accounts').where('id', '=', id).execute()
}

export async function deletePasskeys(db: Db, accountId: string): Promise<void> {
  await db.deleteFrom('local_passkeys').where('account_id', '=', accountId).execute()
}

export async function deletePasskey(db: Db, accountId: string, credentialId: string): Promise<void> {
  await db
    .deleteFrom('local_passkeys')
    .where('account_id', '=', accountId)
    .where('credential_id', '=', credentialId)
    .execute()
}

/** What a sign-in of the Domain with the bundled provider may have to prove. */
export async function readFactorPolicy(db: Db, domainId: string): Promise<FactorPolicy> {
  const row = await db
    .selectFrom('domains')
    .leftJoin('idp_bindings', (join) => join.on('idp_bindings.is_bundled', '=', true))
    .select(['strong_acr as strongAcr', 'required_acr as requiredAcr', 'required_amr as requiredAmr'])
    .where('domains.id', '=', domainId)
    .executeTakeFirstOrThrow()
  return { strongAcr: row.strongAcr, requiredAcr: row.requiredAcr ?? [], requiredAmr: row.requiredAmr ?? [] }
}

/** Disables or enables the user for every credential; returns the user's API tokens. */
export async function setUserDisabled(db: Db, userId: string, disabledAt: Date | null): Promise<readonly string[]> {
  await db.updateTable('principals').set({ disabled_at: disabledAt }).where('id', '=', userId).execute()
  const tokens = await db
    .selectFrom('api_tokens')
    .select('id')
    .where('owner_id', '=', userId)
    .where('revoked_at', 'is', null)
    .execute()
  return tokens.map(({ id }) => id)
}

/** The binding of the bundled provider. */
export async function findBundledBinding(db: Db): Promise<string | undefined> {
  return (await db.selectFrom('idp_bindings').select('id').where('is_bundled', '=', true).executeTakeFirst())?.id
}

export async function findDomainId(db: Db, slug: string): Promise<string | undefined> {
  return (await db.selectFrom('domains').select('id').where('slug', '=', slug).executeTakeFirst())?.id
}

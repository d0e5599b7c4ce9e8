import type { Selectable } from 'kysely'
import type { ProviderName } from '../../../shared/catalogue/providers/index.ts'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import type { CloudCredentialRow } from '../../ports/tables/catalogue.ts'
import { byId } from '../../sql/keyset.ts'

export type CredentialRecord = Selectable<CloudCredentialRow>

const credentialAt = (db: Db, id: string) => db.selectFrom('cloud_credentials').selectAll().where('id', '=', id)

export function findCredential(db: Db, id: string): Promise<CredentialRecord | undefined> {
  return credentialAt(db, id).executeTakeFirst()
}

/** Locks the credential against other changes of it; it may still be requested and lent meanwhile. */
export function lockForChange(db: Db, id: string): Promise<CredentialRecord | undefined> {
  return credentialAt(db, id).forNoKeyUpdate().executeTakeFirst()
}

/** Locks the credential against everything that would refer to it, requests for it included. */
export function lockForEnd(db: Db, id: string): Promise<CredentialRecord | undefined> {
  return credentialAt(db, id).forUpdate().executeTakeFirst()
}

/** Reads the credentials of a Cloud, oldest first. */
export function listCredentials(db: Db, cloudId: string, range: PageRange): Promise<CredentialRecord[]> {
  return byId.page(db.selectFrom('cloud_credentials').selectAll().where('cloud_id', '=', cloudId), range).execute()
}

/** The provider of a Cloud; undefined where there is no such Cloud. */
export async function providerOf(db: Db, cloudId: string): Promise<ProviderName | undefined> {
  const cloud = await db.selectFrom('clouds').select('provider').where('id', '=', cloudId).executeTakeFirst()
  return cloud?.provider
}

/** Keeps the Cloud from being deleted until the transaction ends. Gives whether it exists. */
export async function holdCloud(tx: Db, cloudId: string): Promise<boolean> {
  const cloud = await tx.selectFrom('clouds').select('id').where('id', '=', cloudId).forKeyShare().executeTakeFirst()
  return cloud !== undefined
}

export async function insertCredential(db: Db, credential: CredentialRecord): Promise<void> {
  await db.insertInto('cloud_credentials').values(credential).execute()
}

/** Writes the whole credential, whose row is locked. */
export async function updateCredential(db: Db, { id, ...set }: CredentialRecord): Promise<void> {
  await db.updateTable('cloud_credentials').set(set).where('id', '=', id).execute()
}

/** Deletes the credential; its assignments that ended go with it by their foreign key. */
export async function deleteCredential(db: Db, id: string): Promise<void> {
  await db.deleteFrom('cloud_credentials').where('id', '=', id).execute()
}

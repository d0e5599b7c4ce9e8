import type { Selectable } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import type { PageRange } from '../../ports/page-range.ts'
import type { ProjectSecretRow, ProjectSecretVersionRow } from '../../ports/tables/secrets.ts'
import { byName } from '../../sql/keyset.ts'
import { conflictsAs } from '../../sql/unique.ts'

export type SecretRecord = Selectable<ProjectSecretRow>
export type VersionRecord = Selectable<ProjectSecretVersionRow>

/** The key of a secret for callers. */
export interface SecretPlace {
  readonly projectId: string
  readonly name: string
}

const secretAt = (db: Db, { projectId, name }: SecretPlace) =>
  db.selectFrom('project_secrets').selectAll().where('project_id', '=', projectId).where('name', '=', name)

export function findSecret(db: Db, place: SecretPlace): Promise<SecretRecord | undefined> {
  return secretAt(db, place).executeTakeFirst()
}

/** Locks the secret against everything that would refer to it. */
export function lockSecret(db: Db, place: SecretPlace): Promise<SecretRecord | undefined> {
  return secretAt(db, place).forUpdate().executeTakeFirst()
}

/** Reads the secrets of a Project by name. */
export function listSecrets(db: Db, projectId: string, range: PageRange): Promise<SecretRecord[]> {
  return byName.page(db.selectFrom('project_secrets').selectAll().where('project_id', '=', projectId), range).execute()
}

/** @throws Problem `secret_write_in_progress` where the Project has another secret of that name by now. */
export async function insertSecret(db: Db, secret: SecretRecord): Promise<void> {
  await conflictsAs(db.insertInto('project_secrets').values(secret).execute(), {
    project_secrets_name_key: 'secret_write_in_progress',
  })
}

export async function touchSecret(db: Db, id: string, at: Date): Promise<void> {
  await db.updateTable('project_secrets').set({ updated_at: at }).where('id', '=', id).execute()
}

export async function deleteSecret(db: Db, id: string): Promise<void> {
  await db.deleteFrom('project_secrets').where('id', '=', id).execute()
}

/** The versions of secrets, oldest first; their number is bounded when they are written. */
export async function listVersions(db: Db, secretIds: readonly string[]): Promise<VersionRecord[]> {
  if (secretIds.length === 0) return []
  return db
    .selectFrom('project_secret_versions')
    .selectAll()
    .where('secret_id', 'in', secretIds)
    .orderBy('secret_id')
    .orderBy('version')
    .execute()
}

export async function insertVersion(db: Db, version: VersionRecord): Promise<void> {
  await db.insertInto('project_secret_versions').values(version).execute()
}

export async function deleteVersion(db: Db, secretId: string, version: number): Promise<void> {
  await db
    .deleteFrom('project_secret_versions')
    .where('secret_id', '=', secretId)
    .where('version', '=', version)
    .execute()
}

import { sql, type Selectable } from 'kysely'
import { DatastoreError, type Db } from '../../ports/datastore.ts'
import type { SecretVersionRow } from '../../ports/tables/secrets.ts'

type Version = Selectable<SecretVersionRow>

/** The constraint that refuses a second row of one version. */
const VERSION_KEY = 'secret_versions_pkey'

/** Inserts a version, if the one before it is the newest. Gives whether it did. */
export async function insertAfter(db: Db, row: Version & { readonly sealed: Buffer }): Promise<boolean> {
  const { path, version, sealed } = row
  const insert = sql`
    insert into secret_versions (path, version, sealed)
    select ${path}, ${version}::integer, ${sealed}::bytea
    where (select coalesce(max(version), 0) from secret_versions where path = ${path}) = ${version - 1}::integer
    returning version`.execute(db)
  try {
    return (await insert).rows.length === 1
  } catch (error) {
    // Another writer inserted the same version after the condition was read.
    if (error instanceof DatastoreError && error.failure === 'unique' && error.constraint === VERSION_KEY) return false
    throw error
  }
}

/** Reads a version, by default the newest. */
export function findVersion(db: Db, path: string, version: number | undefined): Promise<Version | undefined> {
  return db
    .selectFrom('secret_versions')
    .selectAll()
    .where('path', '=', path)
    .$if(version !== undefined, (query) => query.where('version', '=', version ?? 0))
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** The number of the newest version; 0 where there is none. */
export async function newestVersion(db: Db, path: string): Promise<number> {
  return (await findVersion(db, path, undefined))?.version ?? 0
}

/** Deletes the bytes of a version and keeps its number. */
export async function eraseVersion(db: Db, path: string, version: number): Promise<void> {
  await db
    .updateTable('secret_versions')
    .set({ sealed: null })
    .where('path', '=', path)
    .where('version', '=', version)
    .execute()
}

export async function deletePath(db: Db, path: string): Promise<void> {
  await db.deleteFrom('secret_versions').where('path', '=', path).execute()
}

import type { Db } from '../../../src/server/ports/datastore.ts'

/** Versions that have an owner's row, and versions that the embedded store can still give, as `path@version`. */
export interface OwnedVersions {
  readonly owned: readonly string[]
  readonly stored: readonly string[]
}

/** Reads both sides. Once nothing is under way they are the same. */
export async function ownedVersions(db: Db): Promise<OwnedVersions> {
  const secrets = await db.selectFrom('project_secret_versions').select(['secret_id', 'version']).execute()
  const credentials = await db.selectFrom('cloud_credentials').select(['id', 'secret_version']).execute()
  const stored = await db
    .selectFrom('secret_versions')
    .select(['path', 'version'])
    .where('sealed', 'is not', null)
    .execute()
  return {
    owned: [
      ...secrets.map(({ secret_id: id, version }) => `project-secrets/${id}@${version}`),
      ...credentials.map(({ id, secret_version: version }) => `cloud-credentials/${id}@${version}`),
    ].toSorted(),
    stored: stored.map(({ path, version }) => `${path}@${version}`).toSorted(),
  }
}

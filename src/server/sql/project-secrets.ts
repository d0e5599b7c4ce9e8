import type { Db } from '../ports/datastore.ts'
import type { NamedSecret } from '../ports/project-secrets.ts'

/** The path of a Project's secret in the secret store. Names can be used again, ids cannot: a path never holds two secrets. */
export function projectSecretPath(secretId: string): string {
  return `project-secrets/${secretId}`
}

/** A version that was not deleted: the one that is named, else the newest. Undefined where there is none. */
export function findSecretVersion(
  db: Db,
  { projectId, name, version }: NamedSecret,
): Promise<{ readonly secretId: string; readonly version: number } | undefined> {
  return db
    .selectFrom('project_secrets as s')
    .innerJoin('project_secret_versions as v', 'v.secret_id', 's.id')
    .select(['s.id as secretId', 'v.version'])
    .where('s.project_id', '=', projectId)
    .where('s.name', '=', name)
    .$if(version !== undefined, (found) => found.where('v.version', '=', version ?? 0))
    .orderBy('v.version', 'desc')
    .limit(1)
    .executeTakeFirst()
}

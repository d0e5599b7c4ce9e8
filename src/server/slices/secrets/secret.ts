import type { Result } from '../../../shared/contract/operation-types.ts'
import type { secrets } from '../../../shared/contract/secrets.ts'
import { problem } from '../../../shared/problems.ts'
import type { SecretUser } from '../../ports/secret-users.ts'
import type { SecretRecord, VersionRecord } from './store.ts'

type SecretAnswer = Result<(typeof secrets)['operations']['GetSecret']>

/** Versions that one secret keeps. */
export const VERSIONS_MAX = 100
/** A store keeps at least this many versions of a path, counted back from the newest (`adapters/openbao`). */
const VERSIONS_SPAN = 1_000

/** A secret with what it consists of. */
export interface WholeSecret {
  readonly secret: SecretRecord
  /** Oldest first; one at least. */
  readonly versions: readonly VersionRecord[]
  readonly users: readonly SecretUser[]
}

/** Two writes of one name exclude each other, also before there is a secret. */
export function ownerOf({ projectId, name }: { readonly projectId: string; readonly name: string }): string {
  return `secret:${projectId}/${name}`
}

/** The newest version that was not deleted; 0 where there is none. */
export function newestOf(versions: readonly VersionRecord[]): number {
  return versions.at(-1)?.version ?? 0
}

/** @throws Problem `secret_versions_exhausted` where another version would be one too many. */
export function assertRoom(versions: readonly VersionRecord[]): void {
  const [oldest] = versions
  const isFull = versions.length >= VERSIONS_MAX || newestOf(versions) - (oldest?.version ?? 0) >= VERSIONS_SPAN - 1
  if (isFull) throw problem('secret_versions_exhausted')
}

/**
 * Those who would lack the deleted version: who names it, and who takes the newest one where it is that. All of them where
 * the whole secret is deleted.
 */
export function deprivedOf({ versions, users }: WholeSecret, version: number | undefined): readonly SecretUser[] {
  if (version === undefined) return users
  const isNewest = version === newestOf(versions)
  return users.filter((user) => user.version === version || (user.version === null && isNewest))
}

/** The secret as the API shows it, without a value. */
export function toAnswer({ secret, versions, users }: WholeSecret): SecretAnswer {
  return {
    id: secret.id,
    project_id: secret.project_id,
    name: secret.name,
    latest_version: newestOf(versions),
    versions: versions.map(({ version, created_by, created_at }) => ({
      version,
      created_by,
      created_at: created_at.toISOString(),
    })),
    users: users.map(({ object, version }) => ({ object, version })),
    created_at: secret.created_at.toISOString(),
    updated_at: secret.updated_at.toISOString(),
  }
}

import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { pathsIn } from '../adapters/own-authority/authority-files.ts'
import { createBackupKeys } from '../adapters/keyring/backup-keys.ts'
import { MIGRATIONS } from '../adapters/postgres/migrate.ts'
import { createBackups, type BackupOrder, type MadeBackup } from '../backup/snapshot/create-backup.ts'
import type { Config } from '../config/config.ts'
import type { Clock } from '../ports/clock.ts'
import type { OpenSnapshot } from '../ports/snapshot.ts'
import { packageVersion } from './package-version.ts'

interface BackupGround {
  readonly openSnapshot: OpenSnapshot
  readonly clock: Clock
}

/** Makes backups of the datastore of the configuration. */
export function openBackups(config: Config, ground: BackupGround): (order: BackupOrder) => Promise<MadeBackup> {
  const { masterKey, tls, storage, baseUrl } = config
  const authority = tls !== undefined && 'kind' in tls && tls.kind === 'self-signed' ? tls.directory : undefined
  return createBackups({
    ...ground,
    keys: createBackupKeys(masterKey, () => (authority === undefined ? undefined : authorityIn(authority))),
    productVersion: packageVersion(),
    store: storage.kind === 'postgres' ? 'postgresql' : 'embedded',
    server: { public_url: baseUrl ?? null, replica: hostname() },
    migrations: MIGRATIONS.map(({ name }) => name),
  })
}

/** Absent before the first start with it. */
function authorityIn(directory: string): string | undefined {
  try {
    return readFileSync(pathsIn(directory).authority, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

import type { Logger } from 'pino'
import { restartAfterRestore } from '../adapters/postgres/after-restore.ts'
import { systemClock } from '../adapters/system/clock.ts'
import { restoreBackup, type Restored, type Restoring } from '../backup/restore/restore.ts'
import type { Config } from '../config/config.ts'
import type { RestoreTarget } from '../ports/restore-target.ts'

/**
 * Opens the empty datastore of the configuration, which keeps something. Only the adapter in use is loaded.
 *
 * @throws BootError where it is not empty, or cannot be used
 */
export async function openRestoreTarget({ storage, pools }: Config, log: Logger): Promise<RestoreTarget> {
  const warn = (message: string, cause?: unknown): void => log.warn({ err: cause }, message)
  if (storage.kind === 'postgres') {
    const { openPostgresTarget } = await import('../adapters/postgres/restore-target.ts')
    return openPostgresTarget({ url: storage.url, pools, warn })
  }
  if (storage.kind === 'memory') throw new Error('a datastore in memory is refused before')
  const { openEmbeddedTarget } = await import('../adapters/pglite/restore-target.ts')
  return openEmbeddedTarget(storage.directory, warn)
}

/** Restores a backup by the system's clock. @throws BootError in one sentence; the target is empty then */
export function restoreInto(restoring: Omit<Restoring, 'restart'>): Promise<Restored> {
  return restoreBackup({ ...restoring, restart: (tx) => restartAfterRestore(tx, systemClock.now()) })
}

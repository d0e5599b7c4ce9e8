import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { BootError } from '../../ports/boot-error.ts'
import { RESTORE_STATEMENT_MS, type RestoreTarget } from '../../ports/restore-target.ts'
import { syncDirectory } from '../../ports/secret-file.ts'
import { directoryErrorOf, makeDataDirectory } from './data-directory.ts'
import { openPglite } from './database.ts'
import { lockDirectory, type DirectoryLock } from './directory-lock.ts'

/** Within the data directory, so that its database can be renamed into place. */
const SCRATCH = 'restoring'
/** Made from the rows of a datastore that is gone. */
const DERIVED = ['authz-index']

/**
 * Holds a data directory without an embedded datastore. The datastore is built in a directory beside its place and renamed
 * once it is whole; the next restore removes what a killed one left.
 *
 * @throws BootError where there is a datastore, another process has the directory, or it cannot be used.
 */
export async function openEmbeddedTarget(
  dataDir: string,
  warn: (message: string, cause?: unknown) => void,
): Promise<RestoreTarget> {
  let isLost = false
  const lock = await holdDirectory(dataDir, () => {
    isLost = true
  })
  const scratch = join(dataDir, SCRATCH)
  const removeScratch = (): void => rmSync(scratch, { recursive: true, force: true })
  try {
    // Before anything looks at the free space.
    removeScratch()
    assertEmpty(dataDir)
  } catch (error) {
    lock.release()
    throw error
  }
  return {
    isOwn: true,
    directory: dataDir,
    async fill(work) {
      const datastore = await openPglite({
        dataDir: scratch,
        warn,
        statementDeadlinesMs: { bulk: RESTORE_STATEMENT_MS },
      })
      try {
        const done = await datastore.transaction('bulk', work)
        await datastore.close()
        if (isLost) throw new BootError(1, `The lock of ${dataDir} was removed during the restore: run it again.`)
        putInPlace(dataDir, scratch)
        return done
      } finally {
        await datastore.close()
        removeScratch()
      }
    },
    async close() {
      lock.release()
    },
  }
}

async function holdDirectory(dataDir: string, onLost: () => void): Promise<DirectoryLock> {
  try {
    makeDataDirectory(dataDir)
    return await lockDirectory(dataDir, onLost)
  } catch (error) {
    throw directoryErrorOf(error, dataDir)
  }
}

/** A directory `database` without its marker is of a first start that was killed: there is nothing in it. */
function assertEmpty(dataDir: string): void {
  const database = join(dataDir, 'database')
  if (existsSync(join(database, 'ready')))
    throw new BootError(
      1,
      `There is a datastore in ${dataDir} already: move its directory database away, or name an empty directory with --data-dir.`,
    )
  rmSync(database, { recursive: true, force: true })
}

function putInPlace(dataDir: string, scratch: string): void {
  for (const name of DERIVED) rmSync(join(dataDir, name), { recursive: true, force: true })
  renameSync(join(scratch, 'database'), join(dataDir, 'database'))
  syncDirectory(dataDir)
}

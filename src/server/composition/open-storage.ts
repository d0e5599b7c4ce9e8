import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import type { Datastore } from '../ports/datastore.ts'
import type { SeatPlace } from '../ports/leader-seat.ts'
import type { OpenSnapshot } from '../ports/snapshot.ts'

/** A datastore as it was found. */
export interface OpenedStorage {
  readonly datastore: Datastore
  readonly place: SeatPlace
  /** Whether the last run did not end in order; undefined where the datastore cannot know. */
  readonly isRecovered: boolean | undefined
  /** Snapshots for backups; absent where nothing is kept. */
  readonly openSnapshot?: OpenSnapshot | undefined
}

export interface StorageHooks {
  readonly log: Logger
  /** Hears once when the embedded datastore broke: nothing is acknowledged any more. */
  readonly onBroken: (error: Error) => void
}

/** Whether there is an embedded datastore in the directory. */
export function holdsDatastore(directory: string): boolean {
  return existsSync(join(directory, 'database'))
}

/** Opens what the configuration names. Only the adapter in use is loaded: each brings a driver of its own. */
export async function openStorage(config: Config, { log, onBroken }: StorageHooks): Promise<OpenedStorage> {
  const { storage, pools, backupScratchDir: scratchDir } = config
  const warn = (message: string, cause?: unknown): void => log.warn({ err: cause }, message)
  if (storage.kind === 'postgres') {
    const { openPostgres } = await import('../adapters/postgres/database.ts')
    const datastore = await openPostgres({ url: storage.url, pools, warn })
    const { place, openSnapshot } = datastore
    return { datastore, place, isRecovered: undefined, openSnapshot }
  }
  const { openPglite } = await import('../adapters/pglite/database.ts')
  const directory = storage.kind === 'memory' ? undefined : storage.directory
  if (directory !== undefined && !holdsDatastore(directory)) log.info('making a new embedded datastore')
  const datastore = await openPglite({ dataDir: directory, scratchDir, onFailure: onBroken, warn })
  const { place, isRecovered, openSnapshot } = datastore
  return { datastore, place, isRecovered, openSnapshot }
}

import { statfs } from 'node:fs/promises'
import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'

/**
 * Space that is kept free for what must always succeed: the engine gives up altogether when its log or a checkpoint
 * cannot be written. Four log segments of 16 MiB.
 */
export const RESERVE_BYTES = 64 * 1024 * 1024
/** Writes are taken again only with so much more, so that the store does not go back and forth. */
const RESUME_BYTES = RESERVE_BYTES + 16 * 1024 * 1024

const WATCH_INTERVAL_MS = 1_000

/** Makes the store read-only while its disk is almost full: it goes on answering reads, and nothing breaks. */
export interface SpaceGuard {
  isReadOnly(): boolean
  /** Looks once and acts on it. */
  look(): Promise<void>
  /** Resolves once nothing of it runs any more. */
  stop(): Promise<void>
}

export interface SpaceGuardDeps {
  /** The one session of the engine: what is set in it holds for all. */
  readonly db: Db
  /** Bytes that this process may still write to the file system of the store. */
  readonly freeBytes: () => Promise<number>
  /** Hears once of every change of mind, and of a look or a switch that failed and is tried again. */
  readonly warn: (message: string, cause?: unknown) => void
}

/** Free bytes of the file system below a directory, those set aside for root left out. */
export async function freeBytesBelow(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}

const mebibytes = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MiB`

/** Watches the space every second until it is stopped. */
export function startSpaceGuard({ db, freeBytes, warn }: SpaceGuardDeps): SpaceGuard {
  let isReadOnly = false
  let isFailing = false
  let running: Promise<void> = Promise.resolve()

  async function turn(mode: 'read only' | 'read write', message: string): Promise<void> {
    await sql.raw(`set session characteristics as transaction ${mode}`).execute(db)
    isReadOnly = mode === 'read only'
    warn(message)
  }

  async function judge(): Promise<void> {
    const free = await freeBytes()
    if (!isReadOnly && free < RESERVE_BYTES)
      await turn(
        'read only',
        `the disk of the embedded datastore has ${mebibytes(free)} left: it is read-only until ${mebibytes(RESUME_BYTES)} are free`,
      )
    else if (isReadOnly && free >= RESUME_BYTES)
      await turn('read write', `the disk of the embedded datastore has ${mebibytes(free)} free: it takes writes again`)
  }

  async function look(): Promise<void> {
    try {
      await judge()
      isFailing = false
    } catch (error) {
      if (!isFailing) warn('the space left for the embedded datastore could not be watched', error)
      isFailing = true
    }
  }

  const inTurn = (): Promise<void> => (running = running.then(look))
  const timer = setInterval(() => void inTurn(), WATCH_INTERVAL_MS).unref()
  return {
    isReadOnly: () => isReadOnly,
    look: inTurn,
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}

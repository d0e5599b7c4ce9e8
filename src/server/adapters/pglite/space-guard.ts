import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import { RESERVE_BYTES } from '../../ports/free-space.ts'

/** Additional free space before writes are accepted again, so that the store does not switch back and forth. */
const RESUME_BYTES = RESERVE_BYTES + 16 * 1024 * 1024

const WATCH_INTERVAL_MS = 1_000

/** Makes the store read-only while its disk is almost full: it continues to answer reads. */
export interface SpaceGuard {
  isReadOnly(): boolean
  /** Checks once and acts on the result. */
  look(): Promise<void>
  /** Resolves once all of it has stopped. */
  stop(): Promise<void>
}

export interface SpaceGuardDeps {
  /** The only session of the engine: its settings apply to all callers. */
  readonly db: Db
  /** Bytes that this process may still write to the file system of the store. */
  readonly freeBytes: () => Promise<number>
  /** Called once for every switch, and for a failed check or switch, which is retried. */
  readonly warn: (message: string, cause?: unknown) => void
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

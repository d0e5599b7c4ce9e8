import {
  closeSync,
  fstatSync,
  futimesSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { BootError } from '../../ports/boot-error.ts'
import { syncEntry } from './sync-tree.ts'
import { ownIdentity, type ProcessIdentity, stateOf } from './process-identity.ts'

/** The exclusive right to use a data directory. Two engines on one directory silently lose rows. */
export interface DirectoryLock {
  /** Whether the former holder ended without releasing it. */
  readonly wasAbandoned: boolean
  release(): void
}

/**
 * Locks are numbered. A caller that finds the holder of the highest number dead creates the next number, which the file system
 * grants to one process only; with a single name, two that see the same dead holder could each remove the other's lock.
 */
const LOCK_NAME = /^lock\.(\d+)$/

const REFRESH_MS = 1_000
/** A holder elsewhere (container, host, boot) refreshes its file in this time, or is gone. */
const ELSEWHERE_WATCH_MS = 4_000

interface Held {
  readonly path: string
  readonly number: number
  readonly holder: ProcessIdentity
}

function listLocks(directory: string): Held[] {
  const held = readdirSync(directory).flatMap((name) => {
    const number = LOCK_NAME.exec(name)?.[1]
    const path = join(directory, name)
    const text = number === undefined ? undefined : readIfThere(path)
    return text === undefined ? [] : [{ path, number: Number(number), holder: parseHolder(text) }]
  })
  return held.toSorted((a, b) => a.number - b.number)
}

/** The file is created whole, but a power loss can leave it empty: then nothing is known of its holder. */
function parseHolder(text: string): ProcessIdentity {
  try {
    return JSON.parse(text) as ProcessIdentity
  } catch {
    return { pid: 0, startedAt: '', place: 'unreadable' }
  }
}

/** A lock may be released between listing and reading. */
function ifThere<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

const readIfThere = (path: string): string | undefined => ifThere(() => readFileSync(path, 'utf8'))
const refreshedAt = (path: string): number | undefined => ifThere(() => statSync(path).mtimeMs)

async function isHeld({ path, holder }: Held, watchMs: number): Promise<boolean> {
  const state = stateOf(holder)
  if (state !== 'unknown') return state === 'alive'
  const before = refreshedAt(path)
  await sleep(watchMs)
  return before !== refreshedAt(path)
}

const inUse = (directory: string, holder: ProcessIdentity) =>
  new BootError(
    1,
    `The data directory ${directory} is in use by process ${holder.pid}: stop that, or give this server a --data-dir of its own.`,
  )

/** Creates the lock file whole or not at all; false when the number is taken. */
function create(path: string, holder: ProcessIdentity): boolean {
  const draft = `${path}.${holder.pid}`
  writeFileSync(draft, JSON.stringify(holder), { mode: 0o600 })
  syncEntry(draft)
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    unlinkSync(draft)
  }
}

/** Keeps the file fresh for watchers elsewhere, and notices when somebody took it away. */
function keep(path: string, onLost: () => void): () => void {
  const descriptor = openSync(path, 'r+')
  const timer = setInterval(() => {
    const now = new Date()
    futimesSync(descriptor, now, now)
    if (fstatSync(descriptor).nlink === 0) onLost()
  }, REFRESH_MS).unref()
  let isReleased = false
  return () => {
    if (isReleased) return
    isReleased = true
    clearInterval(timer)
    // Once lost, the name may be another holder's.
    if (fstatSync(descriptor).nlink > 0) ifThere(() => unlinkSync(path))
    closeSync(descriptor)
  }
}

/** Makes this process the holder of that number. @throws BootError when another start was faster. */
function claim(directory: string, number: number): string {
  const path = join(directory, `lock.${number}`)
  if (!create(path, ownIdentity()))
    throw new BootError(
      1,
      `Another server was started on the data directory ${directory} just now: stop one of the two.`,
    )
  // A listing that raced with another start may have missed its lock: a caller that holds the highest number has won.
  const winner = listLocks(directory).at(-1)
  if (winner === undefined || winner.number === number) return path
  unlinkSync(path)
  throw inUse(directory, winner.holder)
}

/**
 * Takes the lock of a data directory. A lock is taken over only from a process that is gone.
 * @param onLost called, again and again, when the lock file vanished while it was held: nothing may be written any more.
 * @param elsewhereWatchMs how long to watch whether a holder in another container, host or boot refreshes its lock.
 * @throws BootError naming the process that holds it.
 */
export async function lockDirectory(
  directory: string,
  onLost: () => void,
  elsewhereWatchMs = ELSEWHERE_WATCH_MS,
): Promise<DirectoryLock> {
  const last = listLocks(directory).at(-1)
  if (last !== undefined && (await isHeld(last, elsewhereWatchMs))) throw inUse(directory, last.holder)
  const number = (last?.number ?? 0) + 1
  const path = claim(directory, number)
  for (const old of listLocks(directory)) if (old.number < number) ifThere(() => unlinkSync(old.path))
  return { wasAbandoned: last !== undefined, release: keep(path, onLost) }
}

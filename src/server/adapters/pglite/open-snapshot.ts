import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { OpenSnapshot, Snapshot, SnapshotRequest } from '../../ports/snapshot.ts'
import { BackupRefusal } from '../../ports/snapshot.ts'
import { beginReading } from '../postgres/snapshot-reader.ts'
import { startEngine } from './engine.ts'
import { copyOnline, type OnlineCopyDeps } from './online-copy.ts'

/** How long the engine of the copy may take to end, in ms. Nothing of it is kept, so that it may be cut off. */
const CLOSE_DEADLINE_MS = 1_000

/**
 * Snapshots of the embedded datastore: its directory is copied while it takes writes, and a second engine, at the lowest
 * priority, reads the copy. Another one at the same time is refused.
 *
 * @param scratchDirectory made for the copy, and removed with it
 */
export function createSnapshots(deps: OnlineCopyDeps, scratchDirectory: string): OpenSnapshot {
  let isOpen = false

  async function open(request: SnapshotRequest): Promise<Snapshot> {
    await rm(scratchDirectory, { recursive: true, force: true })
    await mkdir(dirname(scratchDirectory), { recursive: true, mode: 0o700 })
    // Not one that another user has made there in the meantime.
    await mkdir(scratchDirectory, { mode: 0o700 })
    const directory = join(scratchDirectory, 'pgdata')
    await copyOnline(deps, directory, request)
    request.signal.throwIfAborted()
    return readCopy(directory, request.signal)
  }

  async function remove(): Promise<void> {
    try {
      await rm(scratchDirectory, { recursive: true, force: true })
    } finally {
      isOpen = false
    }
  }

  return async (request) => {
    if (isOpen) throw new BackupRefusal('Another backup is being made; wait for it to end.')
    isOpen = true
    try {
      const snapshot = await open(request)
      const close = async (): Promise<void> => {
        try {
          await snapshot.close()
        } finally {
          await remove()
        }
      }
      return { ...snapshot, close }
    } catch (error) {
      await remove()
      throw error
    }
  }
}

async function readCopy(directory: string, signal: AbortSignal): Promise<Snapshot> {
  const ignore = (): void => undefined // The statement that waits fails.
  const engine = await startEngine(
    { place: { directory }, syncModule: 'node:fs', startParams: undefined, isScratch: true },
    ignore,
  )
  const stop = (): void => engine.fail('the backup was ended')
  signal.addEventListener('abort', stop, { once: true })
  const close = async (): Promise<void> => {
    signal.removeEventListener('abort', stop)
    await engine.close(CLOSE_DEADLINE_MS)
  }
  try {
    signal.throwIfAborted()
    return { ...(await beginReading(engine.client)), close }
  } catch (error) {
    await close()
    throw error
  }
}

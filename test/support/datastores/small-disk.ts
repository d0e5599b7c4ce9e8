import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmdirSync, rmSync, statfsSync, closeSync, openSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file system of its own, small enough to be filled. */
export interface SmallDisk {
  readonly path: string
  freeBytes(): number
  /** Fills it up to so many free bytes. */
  fill(leaveBytes: number): void
  /** Takes the filling away again. */
  relieve(): void
  /** From now on nothing can be written there. */
  makeReadOnly(): void
  unmount(): void
}

const CHUNK = Buffer.alloc(64 * 1024, 'x')

/** Mounts one in memory; undefined where this account may not mount. */
export function mountSmallDisk(bytes: number): SmallDisk | undefined {
  const path = mkdtempSync(join(tmpdir(), 'ctl-disk-'))
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=0700`, 'tmpfs', path])
  if (status !== 0) {
    rmdirSync(path)
    return undefined
  }
  const filling = join(path, 'filling')
  const freeBytes = (): number => {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  }
  return {
    path,
    freeBytes,
    fill(leaveBytes) {
      const file = openSync(filling, 'a')
      try {
        while (freeBytes() > leaveBytes) writeSync(file, CHUNK, 0, Math.min(CHUNK.length, freeBytes() - leaveBytes))
      } finally {
        closeSync(file)
      }
    },
    relieve: () => rmSync(filling, { force: true }),
    makeReadOnly: () => void execFileSync('mount', ['-o', 'remount,ro', path]),
    unmount() {
      execFileSync('umount', [path])
      rmdirSync(path)
    },
  }
}

/** Whether this account may mount, so that tests that need it are skipped visibly where it may not. */
export function canMount(): boolean {
  const disk = mountSmallDisk(64 * 1024)
  disk?.unmount()
  return disk !== undefined
}

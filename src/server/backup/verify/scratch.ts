import { mkdtempSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { BootError } from '../../ports/boot-error.ts'

/** The flag that names where scratch datastores are made. */
export const SCRATCH_FLAG = '--scratch-dir'

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** A directory of this process. */
export interface Scratch {
  readonly path: string
  /** The directory that it is in. */
  readonly parent: string
  remove(): void
}

/**
 * Makes a directory below `parent`, or below that of the system for temporary files. It is removed at the end, also when
 * Ctrl-C, SIGTERM or a terminal that is closed ends the process; a killed process leaves it.
 *
 * @throws BootError where it cannot be made
 */
function makeScratch(parent: string): Scratch {
  const path = make(parent)
  const clear = (): void => rmSync(path, { recursive: true, force: true, maxRetries: 3 })
  const onSignal = (signal: NodeJS.Signals): void => {
    clear()
    process.exit(128 + constants.signals[signal])
  }
  for (const signal of ENDING) process.on(signal, onSignal)
  return {
    path,
    parent,
    remove() {
      for (const signal of ENDING) process.off(signal, onSignal)
      clear()
    },
  }
}

function make(parent: string): string {
  try {
    return mkdtempSync(join(parent, 'ctl-scratch-'))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new BootError(
      1,
      `No scratch directory can be made in ${parent} (${code}): name another with ${SCRATCH_FLAG}.`,
      error,
    )
  }
}

/** Runs the work with a scratch directory, and removes it whatever happens. `parent` is of the flag. */
export async function withScratch<T>(parent: string | undefined, work: (scratch: Scratch) => Promise<T>): Promise<T> {
  const scratch = makeScratch(parent === undefined ? tmpdir() : resolve(parent))
  try {
    return await work(scratch)
  } finally {
    scratch.remove()
  }
}

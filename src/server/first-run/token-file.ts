import { existsSync, linkSync, lstatSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncDirectory, writeSecretFile } from '../ports/secret-file.ts'
import type { TokenHandover } from './token-handover.ts'

/** The content of a file that a first run writes. */
export type FileContent = 'bootstrap token' | 'initial password'

/** Why the token file cannot be written; `code` is the system's, e.g. `EEXIST`. */
export class TokenFileError extends Error {
  readonly code: string
  readonly path: string
  readonly content: FileContent

  constructor({ path, content }: { readonly path: string; readonly content: FileContent }, cause: unknown) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
    super(`the ${content === 'bootstrap token' ? 'token' : 'password'} file ${path} cannot be written (${code})`, {
      cause,
    })
    this.name = 'TokenFileError'
    this.code = code
    this.path = path
    this.content = content
  }
}

/**
 * Writes the token to a file of mode 0600, first under a temporary name, then linked to the final one. Neither step
 * follows a link or replaces a file.
 */
export function createTokenFile(path: string, content: FileContent = 'bootstrap token'): TokenHandover {
  const staging = `${path}.new`

  function guard(work: () => void): void {
    try {
      work()
    } catch (error) {
      throw new TokenFileError({ path, content }, error)
    }
  }

  /** A crash between link and removal leaves one file under both names. */
  function isLinked(): boolean {
    return lstatSync(path, { throwIfNoEntry: false })?.ino === lstatSync(staging).ino
  }

  function refuseTaken(): void {
    if (lstatSync(path, { throwIfNoEntry: false })) throw taken(path)
  }

  return {
    prove: () => guard(refuseTaken),
    stage(token) {
      guard(() => {
        refuseTaken()
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
        rmSync(staging, { force: true })
        writeSecretFile(staging, `${token}\n`)
        syncDirectory(dirname(path))
      })
    },
    staged: () => (existsSync(staging) ? readFileSync(staging, 'utf8').trim() : undefined),
    publish() {
      guard(() => {
        if (!isLinked()) linkSync(staging, path)
        rmSync(staging)
        syncDirectory(dirname(path))
      })
    },
    discard() {
      rmSync(staging, { force: true })
    },
  }
}

function taken(path: string): Error {
  return Object.assign(new Error(`${path} exists`), { code: 'EEXIST' })
}

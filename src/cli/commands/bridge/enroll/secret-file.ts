import { open, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { CliError } from '../../../errors/cli-error.ts'
import { EXIT } from '../../../errors/exit-code.ts'

/** A new file that only its owner can read. */
export interface SecretFile {
  /** @throws CliError where it cannot be written; it is removed again then. */
  write(text: string): Promise<void>
  /** Removes it again. */
  discard(): Promise<void>
}

/** Creates the file, so that what follows cannot fail for it. @throws CliError where it exists or cannot be created. */
export async function createSecretFile(cwd: string, name: string): Promise<SecretFile> {
  const path = resolve(cwd, name)
  const file = await open(path, 'wx', 0o600).catch((error: unknown) => {
    throw fileFault(name, error)
  })
  async function discard(): Promise<void> {
    await file.close()
    await rm(path, { force: true })
  }
  return {
    async write(text) {
      try {
        await file.writeFile(text)
        await file.sync()
        await file.close()
      } catch (error) {
        await discard()
        throw writeFault(name, error)
      }
    },
    discard,
  }
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
}

function writeFault(name: string, cause: unknown): CliError {
  return new CliError(`${name} cannot be written (${codeOf(cause)}), and with it the private key is lost`, {
    exitCode: EXIT.failed,
    code: 'file_not_written',
    hints: ['The peer is registered: remove it (ctl bridge user-access peers remove), then enrol the device again.'],
    cause,
  })
}

function fileFault(name: string, cause: unknown): CliError {
  const code = codeOf(cause)
  const isThere = code === 'EEXIST'
  return new CliError(isThere ? `${name} exists already` : `${name} cannot be created (${code})`, {
    exitCode: isThere ? EXIT.conflict : EXIT.failed,
    code: 'file_not_created',
    hints: ['Name another file with --out. Nothing was changed.'],
    cause,
  })
}

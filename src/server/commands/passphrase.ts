import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { BootError } from '../ports/boot-error.ts'
import { ConfigError } from '../config/config-error.ts'
import type { AdminCall } from './admin.ts'

/** The flag that names a file with a passphrase. */
export const PASSPHRASE_FLAG = '--passphrase-file'

/**
 * The passphrase of a backup that exists: the first line of the file, or what is typed at the terminal.
 *
 * @throws ConfigError where there is neither; BootError where the file cannot be read.
 */
export async function givenPassphrase({ askSecret }: AdminCall, file: string | undefined): Promise<string> {
  if (file !== undefined) return fromFile(resolve(file))
  const typed = await askSecret?.('Passphrase of the master key in the backup')
  if (typed !== undefined && typed !== '') return typed
  throw new ConfigError(2, `The master key in the backup needs its passphrase: give a file with it, ${PASSPHRASE_FLAG} FILE.`)
}

function fromFile(path: string): string {
  try {
    const [line = ''] = readFileSync(path, 'utf8').split(/\r?\n/, 1)
    if (line !== '') return line
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new BootError(1, `The file ${path} of ${PASSPHRASE_FLAG} cannot be read (${code}): check its path and mode.`, error)
  }
  throw new BootError(1, `The file ${path} of ${PASSPHRASE_FLAG} is empty: its first line is the passphrase.`)
}

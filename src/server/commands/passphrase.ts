import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { PASSPHRASE_CHARACTERS_MIN } from '../backup/archive/format.ts'
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
  throw new ConfigError(
    2,
    `The master key in the backup needs its passphrase: give a file with it, ${PASSPHRASE_FLAG} FILE.`,
  )
}

/**
 * The passphrase of a backup that is to be made: the first line of the file, or what is typed at the terminal twice.
 *
 * @throws ConfigError where there is neither, or it is too short; BootError where the file cannot be read.
 */
export async function newPassphrase({ askSecret }: AdminCall, file: string | undefined): Promise<string> {
  if (file !== undefined) return longEnough(fromFile(resolve(file)))
  if (askSecret === undefined)
    throw new ConfigError(2, `There is no terminal to ask for the passphrase: name a file with ${PASSPHRASE_FLAG}.`)
  const first = longEnough((await askSecret('Passphrase for the master key')) ?? '')
  if ((await askSecret('The same passphrase again')) !== first)
    throw new ConfigError(2, 'The two passphrases differ; no backup was made.')
  return first
}

function longEnough(passphrase: string): string {
  if (passphrase.length >= PASSPHRASE_CHARACTERS_MIN) return passphrase
  throw new ConfigError(
    2,
    `The passphrase must have at least ${PASSPHRASE_CHARACTERS_MIN} characters; no backup was made.`,
  )
}

function fromFile(path: string): string {
  try {
    const [line = ''] = readFileSync(path, 'utf8').split(/\r?\n/, 1)
    if (line !== '') return line
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new BootError(
      1,
      `The file ${path} of ${PASSPHRASE_FLAG} cannot be read (${code}): check its path and mode.`,
      error,
    )
  }
  throw new BootError(1, `The file ${path} of ${PASSPHRASE_FLAG} is empty: its first line is the passphrase.`)
}

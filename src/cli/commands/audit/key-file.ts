import { readFile } from 'node:fs/promises'
import { readKeySet } from '../../../shared/audit/key-set.ts'
import type { SignatureKey } from '../../../shared/audit/signed-position.ts'
import { usageError } from '../../errors/cli-error.ts'

/** The public keys of a JWK Set file (`--keys`). @throws CliError where it cannot be read or holds none. */
export async function keysOf(path: string): Promise<readonly SignatureKey[]> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    throw unreadable(path, cause)
  }
  try {
    return readKeySet(JSON.parse(text))
  } catch (cause) {
    const reason = cause instanceof TypeError ? cause.message : 'it is no JSON'
    throw usageError(
      `--keys ${path}: ${reason}`,
      'The server publishes its keys: ctl signing-keys list --include expired -o json > keys.json',
    )
  }
}

/** The usage error for a file that cannot be read; anything else as it is. */
export function unreadable(path: string, cause: unknown): Error {
  const isFault = cause instanceof Error && 'code' in cause && typeof cause.code === 'string'
  return isFault ? usageError(`${path} cannot be read (${String(cause.code)})`) : (cause as Error)
}

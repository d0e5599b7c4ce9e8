import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { createExportVerifier, type ExportReport } from '../../shared/audit/export-lines.ts'
import { readKeySet } from '../../shared/audit/key-set.ts'
import type { PlaceKey } from '../../shared/audit/signed-place.ts'
import { usageError } from '../cli-error.ts'
import type { Progress } from '../progress.ts'
import { sha256 } from './sha256.ts'

/** Verifies an export with the public keys of a JWK Set file. Asks nobody. @throws CliError where a file cannot be read. */
export async function verifyFile(path: string, keysPath: string, progress: Progress): Promise<ExportReport> {
  const verifier = createExportVerifier({ sha256, keys: await keysOf(keysPath) })
  let lines = 0
  try {
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
      if (!(await verifier.line(line))) break
      lines += 1
      progress.at(lines)
    }
  } catch (cause) {
    throw unreadable(path, cause)
  }
  return verifier.end()
}

async function keysOf(path: string): Promise<readonly PlaceKey[]> {
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

function unreadable(path: string, cause: unknown): Error {
  const isFault = cause instanceof Error && 'code' in cause && typeof cause.code === 'string'
  return isFault ? usageError(`${path} cannot be read (${String(cause.code)})`) : (cause as Error)
}

import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { createExportVerifier, type ExportReport } from '../../../shared/audit/export-lines.ts'
import type { Progress } from '../../output/progress.ts'
import { keysOf, unreadable } from './key-file.ts'
import { sha256 } from './sha256.ts'

/** Verifies an export with the public keys of a JWK Set file. Needs no server. @throws CliError where a file cannot be read. */
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

import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { CliError, usageError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import type { Io } from '../../output/io.ts'
import { harmless } from '../../output/style.ts'
import type { Fault, TupleRow } from './tuple-request.ts'

/** The most that one import takes; the server writes it in one revision. */
export const ROWS_MAX = 1_000
export const BYTES_MAX = 1024 * 1024
/** Faults that are listed. */
const FAULTS_MAX = 20

/**
 * Reads the tuples of a file, `-` for stdin. Nothing has been sent by then.
 * @throws CliError for a file that cannot be read or is too large, and for rows that could not be written.
 */
export async function tuplesFrom(path: string, io: Io): Promise<readonly TupleRow[]> {
  const text = path === '-' ? await io.stdin.text() : await readBounded(path, io)
  if (Buffer.byteLength(text) > BYTES_MAX) throw tooLarge(path, 'is larger than 1 MiB')
  const { readTuples } = await import('./tuple-file.ts')
  const { rows, faults } = await readTuples(text)
  if (faults.length > 0) throw faulty(path, faults)
  assertCount(path, rows.length)
  return rows
}

function assertCount(path: string, count: number): void {
  if (count > ROWS_MAX) throw tooLarge(path, `has ${count} tuples, and an import takes 1000`)
}

/** Refuses what does not fit into one call. */
export function assertBody(path: string, body: unknown): void {
  if (Buffer.byteLength(JSON.stringify(body)) > BYTES_MAX) throw tooLarge(path, 'makes a call of more than 1 MiB')
}

async function readBounded(path: string, io: Io): Promise<string> {
  const file = await open(resolve(io.cwd, path)).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    throw usageError(`${path} cannot be read${code}`)
  })
  try {
    const { size } = await file.stat()
    if (size > BYTES_MAX) throw tooLarge(path, 'is larger than 1 MiB')
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

function tooLarge(path: string, why: string): CliError {
  const name = path === '-' ? 'tuples.jsonl' : path
  return new CliError(`${named(path)} ${why}; nothing was imported`, {
    exitCode: EXIT.usage,
    code: 'import_too_large',
    hints: [
      `An import is all or nothing, so it takes at most 1000 tuples and 1 MiB. Split it by lines (JSON lines and relationships can be): split -l 1000 ${name} part- && for f in part-*; do ctl tuples import "$f" || break; done`,
    ],
  })
}

/** Says which rows are wrong, the first ones by line. Nothing was written. */
export function faulty(path: string, faults: readonly Fault[], count = faults.length): CliError {
  const shown = faults.slice(0, FAULTS_MAX).map(({ line, message }) => `  line ${line}: ${harmless(message)}`)
  const more = count > shown.length ? [`  … and ${count - shown.length} more`] : []
  const rows = count === 1 ? '1 row that cannot' : `${count} rows that cannot`
  return new CliError(`${named(path)} has ${rows} be written; nothing was imported`, {
    exitCode: EXIT.invalid,
    code: 'invalid_tuples',
    hints: [...shown, ...more],
  })
}

function named(path: string): string {
  return path === '-' ? 'stdin' : path
}

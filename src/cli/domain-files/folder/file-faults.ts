import { nearest } from '../../../shared/nearest.ts'
import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import type { ValueFault } from '../schema/value-fault.ts'
import type { FileFault, ReadFile } from './read-file.ts'

/** Faults that are listed. */
const SHOWN_MAX = 20

/** A fault of a value at its place in its file. */
export function placedFault(
  { file, placeOf }: Pick<ReadFile, 'file' | 'placeOf'>,
  { path, message, unknown }: ValueFault,
): FileFault {
  return { file, ...placeOf(path), message, ...(unknown && { unknown }) }
}

/** The refusal of files: each fault by file, line and column, the first 20 of them. */
export function faultyFiles(faults: readonly FileFault[]): CliError {
  const lines = faults.slice(0, SHOWN_MAX).map(({ file, line, column, message, unknown }) => {
    const near = unknown && nearest(unknown.word, unknown.known)
    return `  ${file}:${line}:${column}: ${message}${near === undefined ? '' : `; did you mean ${near}?`}`
  })
  const more = faults.length > SHOWN_MAX ? [`  and ${faults.length - SHOWN_MAX} more`] : []
  const message = faults.length === 1 ? 'a file has a fault' : `the files have ${faults.length} faults`
  return new CliError(message, { exitCode: EXIT.invalid, code: 'invalid_files', hints: [...lines, ...more] })
}

import { ProblemAnswer } from '../../client/failures.ts'
import { underline, type Fault } from '../output/underline.ts'
import { isRow } from '../output/members.ts'
import { CliError } from './cli-error.ts'
import { EXIT, type ExitCode } from './exit-code.ts'

/** The failure of a selector, with carets under each of its errors. */
export function selectorError(text: string, errors: readonly Fault[], exitCode: ExitCode = EXIT.invalid): CliError {
  const message = errors.length === 1 ? 'the selector has an error' : `the selector has ${errors.length} errors`
  return new CliError(message, {
    exitCode,
    code: 'invalid_selector',
    hints: underline(text, errors).map((line) => `  ${line}`),
  })
}

/** The errors that an answer lists, in bytes of the selector. */
export function faultsIn(errors: unknown): readonly Fault[] {
  if (!Array.isArray(errors)) return []
  return errors.filter(isRow).flatMap(({ offset, length, message }) => {
    if (typeof offset !== 'number' || typeof length !== 'number') return []
    return [{ offset, length, message: String(message) }]
  })
}

/** A refusal of a selector as that of its errors; any other failure as it is. */
export function asSelectorError(error: unknown, text: string): unknown {
  if (!(error instanceof ProblemAnswer) || error.code !== 'invalid_selector') return error
  const faults = faultsIn(error.document['errors'])
  return faults.length === 0 ? error : selectorError(text, faults)
}

/** Checks the syntax of a selector without asking anybody. Its keys are the server's to look up. */
export async function syntaxFaults(text: string): Promise<readonly Fault[]> {
  const { parseSelector } = await import('../../shared/selectors/parse-selector.ts')
  return parseSelector(text).errors
}

import { CliError, type CliErrorOptions } from '../errors/cli-error.ts'
import { EXIT } from '../errors/exit-code.ts'

/** A failure of the agent: what failed and why in one sentence, and what to do next. */
export function agentError(
  code: string,
  message: string,
  options: Partial<Pick<CliErrorOptions, 'exitCode' | 'hints' | 'cause'>> = {},
): CliError {
  return new CliError(message, { exitCode: EXIT.failed, code, ...options })
}

/** Errors of the agent itself have codes in lower case. */
const SYSTEM_CODE = /^E[A-Z0-9_]+$/

/** The error code of the operating system, such as `ENOENT`; empty where there is none. */
export function systemCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return SYSTEM_CODE.test(code) ? code : ''
}

/** What went wrong, in the words of the error. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** What went wrong, and what to do next, in one text. */
export function explained(error: unknown): string {
  return error instanceof CliError ? [error.message, ...error.hints].join(' ') : reasonOf(error)
}

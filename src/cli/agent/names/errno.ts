import { CliError } from '../../errors/cli-error.ts'

/** Code of a system error, such as `EBUSY`; undefined for other errors. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** The text of an error, for a line of the log. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The text of an error with its hints, for the log and the status of the agent. */
export function explained(error: unknown): string {
  return error instanceof CliError ? [error.message, ...error.hints].join(' ') : messageOf(error)
}

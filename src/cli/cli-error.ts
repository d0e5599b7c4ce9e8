import { EXIT, type ExitCode } from './exit-code.ts'

/** A failure that the command line itself found: what failed and why in one sentence, and what to do next. */
export class CliError extends Error {
  readonly exitCode: ExitCode
  /** For machines; part of the output with `-o json`. */
  readonly code: string
  /** Whole lines that say what to do next. */
  readonly hints: readonly string[]

  constructor(message: string, options: CliErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'CliError'
    this.exitCode = options.exitCode
    this.code = options.code
    this.hints = options.hints ?? []
  }
}

export interface CliErrorOptions {
  readonly exitCode: ExitCode
  readonly code: string
  readonly hints?: readonly string[] | undefined
  readonly cause?: unknown
}

/** The command line is wrong; nothing was sent. */
export function usageError(message: string, ...hints: readonly string[]): CliError {
  return new CliError(message, { exitCode: EXIT.usage, code: 'usage', hints })
}

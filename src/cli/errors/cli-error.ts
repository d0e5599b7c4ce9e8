import { EXIT, type ExitCode } from './exit-code.ts'

/** A word that was not understood, and the words that would have been. */
export interface Mistyped {
  readonly word: string
  readonly known: Iterable<string>
  /** Says the nearest known word; `Did you mean …?` when absent. */
  readonly suggest?: (near: string) => string
  /** What is said when no known word is near. */
  readonly otherwise: string
}

/** A failure that the command line itself found: what failed and why in one sentence, and what to do next. */
export class CliError extends Error {
  readonly exitCode: ExitCode
  /** For machines; part of the output with `-o json`. */
  readonly code: string
  /** Whole lines that say what to do next. */
  readonly hints: readonly string[]
  /** Looked at only when the error is reported: searching for the nearest word is no business of a call that works. */
  readonly mistyped: Mistyped | undefined

  constructor(message: string, options: CliErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'CliError'
    this.exitCode = options.exitCode
    this.code = options.code
    this.hints = options.hints ?? []
    this.mistyped = options.mistyped
  }
}

export interface CliErrorOptions {
  readonly exitCode: ExitCode
  readonly code: string
  readonly hints?: readonly string[] | undefined
  readonly mistyped?: Mistyped | undefined
  readonly cause?: unknown
}

/** The command line is wrong; nothing was sent. */
export function usageError(message: string, ...hints: readonly string[]): CliError {
  return new CliError(message, { exitCode: EXIT.usage, code: 'usage', hints })
}

/** The command line has a word that is not known. */
export function mistypedError(message: string, mistyped: Mistyped): CliError {
  return new CliError(message, { exitCode: EXIT.usage, code: 'usage', mistyped })
}

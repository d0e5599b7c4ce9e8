import { CliError } from '../../errors/cli-error.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'

/** A failure of a WireGuard interface: one sentence, and the way out as a hint. */
export function deviceFault(
  message: string,
  options: {
    readonly code?: string
    readonly exitCode?: ExitCode
    readonly hint?: string
    readonly cause?: unknown
  } = {},
): CliError {
  return new CliError(message, {
    exitCode: options.exitCode ?? EXIT.failed,
    code: options.code ?? 'device_failed',
    hints: options.hint === undefined ? [] : [options.hint],
    cause: options.cause,
  })
}

import { CliError } from '../../../errors/cli-error.ts'
import { EXIT } from '../../../errors/exit-code.ts'

/** Why a tunnel is not applied: a sentence without the secret and without the slug. */
export function tunnelFault(
  message: string,
  options: { readonly hint?: string; readonly cause?: unknown } = {},
): CliError {
  return new CliError(message, {
    exitCode: EXIT.failed,
    code: 'tunnel_failed',
    hints: options.hint === undefined ? [] : [options.hint],
    cause: options.cause,
  })
}

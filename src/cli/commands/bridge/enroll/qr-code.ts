import { renderUnicodeCompact } from 'uqr'
import { CliError, usageError } from '../../../errors/cli-error.ts'
import { EXIT } from '../../../errors/exit-code.ts'
import type { Io } from '../../../output/io.ts'
import { isUtf8 } from '../../../output/locale.ts'

/** The text as a QR code, drawn with half blocks. */
export function qrCode(text: string): string {
  return `${renderUnicodeCompact(text, { ecc: 'L', border: 2 })}\n`
}

/**
 * Refuses a terminal that cannot show the code of such a text, before anything is changed.
 *
 * @throws CliError
 */
export function requireRoom({ env, stdout }: Pick<Io, 'env' | 'stdout'>, text: string): void {
  if (!isUtf8(env)) throw usageError('--qr needs a terminal with UTF-8', 'Write a file instead: --out FILE')
  const width = qrCode(text).indexOf('\n')
  if (!stdout.isTty || width <= stdout.columns) return
  throw new CliError(`the QR code is ${width} columns wide, and the terminal ${stdout.columns}`, {
    exitCode: EXIT.usage,
    code: 'terminal_too_narrow',
    hints: ['Make the terminal wider, or write a file instead: --out FILE'],
  })
}

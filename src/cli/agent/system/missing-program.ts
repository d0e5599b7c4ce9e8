import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'

/** The Debian package of each program, where it has another name than the program. */
const PACKAGES: Readonly<Record<string, string>> = {
  ip: 'iproute2',
  wg: 'wireguard-tools',
  nft: 'nftables',
  ping: 'iputils-ping',
}

const MISSING = 'program_missing'

/** The error for a program that is not installed: which one, and the Debian package that has it. */
export function missingProgram(program: string): CliError {
  const debianPackage = PACKAGES[program] ?? program
  return new CliError(`${program} is not installed.`, {
    exitCode: EXIT.failed,
    code: MISSING,
    hints: [`Install it: apt install ${debianPackage}`],
  })
}

/** Whether a program could not be run because it is not installed. */
export function isMissingProgram(error: unknown): boolean {
  return error instanceof CliError && error.code === MISSING
}

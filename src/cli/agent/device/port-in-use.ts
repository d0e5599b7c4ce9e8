import type { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { deviceFault } from './device-fault.ts'

/** The error for a UDP port that another program has. */
export function portInUse(listenPort: number): CliError {
  return deviceFault(`UDP port ${listenPort} is in use by another program.`, {
    code: 'port_in_use',
    exitCode: EXIT.conflict,
    hint: 'Choose another port with --listen-port.',
  })
}

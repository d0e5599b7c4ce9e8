import type { AdminCommand } from '../ports/admin-command.ts'
import { createReleaseCommands } from '../releases/admin-commands.ts'
import type { Backend } from './backend.ts'

/** Every command that operators give on the server's own machine, over an open backend. */
export function createAdminCommands(backend: Backend): readonly AdminCommand[] {
  return createReleaseCommands(backend)
}

import { createBackupCommand } from '../backup/admin-command.ts'
import type { Config } from '../config/config.ts'
import type { AdminCommand } from '../ports/admin-command.ts'
import { createReleaseCommands } from '../releases/admin-commands.ts'
import type { Backend } from './backend.ts'
import { openBackups } from './backups.ts'

/** Every command that operators give on the server's own machine, over an open backend. */
export function createAdminCommands(backend: Backend, config: Config): readonly AdminCommand[] {
  const { openSnapshot, clock } = backend
  const ofReleases = createReleaseCommands(backend)
  if (openSnapshot === undefined) return ofReleases
  return [...ofReleases, createBackupCommand(openBackups(config, { openSnapshot, clock }))]
}

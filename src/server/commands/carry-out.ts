import { createAdminCommands } from '../composition/admin-commands.ts'
import { adminSocketPath } from '../composition/admin-socket.ts'
import { openBackend, type Backend } from '../composition/backend.ts'
import { createLog, type TextSink } from '../composition/log.ts'
import { holdsDatastore } from '../composition/open-storage.ts'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/config-error.ts'
import { AdminRefusal, type AdminRequest } from '../ports/admin-command.ts'
import { BootError } from '../ports/boot-error.ts'
import { askServer } from './ask-server.ts'

/**
 * Carries a command out: in the server that runs on the embedded datastore of the configuration, else on the datastore
 * itself. Resolves with what was done, in one sentence.
 *
 * @throws BootError, ConfigError in one sentence; nothing was changed then.
 */
export async function carryOut(config: Config, asked: AdminRequest, stderr: TextSink): Promise<string> {
  try {
    return (await askRunning(config, asked)) ?? (await onDatastore(config, asked, stderr))
  } catch (error) {
    if (error instanceof AdminRefusal) throw new BootError(1, error.message, error)
    throw error
  }
}

/** Asks the server that runs on the embedded datastore of the configuration; undefined where none does. @throws as `askServer` */
export async function askRunning(
  { storage, dataDir }: Config,
  asked: AdminRequest,
  onReport?: (sentence: string) => void,
): Promise<string | undefined> {
  if (storage.kind === 'memory') throw new ConfigError(1, '--dev keeps nothing, so there is nothing to change.')
  return storage.kind === 'embedded' ? askServer(adminSocketPath(dataDir), asked, onReport) : undefined
}

async function onDatastore(config: Config, asked: AdminRequest, stderr: TextSink): Promise<string> {
  assertThere(config)
  const log = createLog(config.logLevel, stderr)
  const ignore = (): void => undefined // A failure here fails the command, which reports it.
  const backend = await openBackend(config, { log, onNew: ignore, onAuditFailure: ignore, onBroken: ignore })
  try {
    return await runOver(backend, config, asked)
  } finally {
    backend.feed.stop()
    await backend.bus.close()
    await backend.engine.close()
    await backend.datastore.close()
  }
}

async function runOver(backend: Backend, config: Config, { command: name, ...given }: AdminRequest): Promise<string> {
  await backend.feed.start()
  await backend.engine.prepare()
  const command = createAdminCommands(backend, config).find((one) => one.name === name)
  if (command === undefined) throw new Error(`there is no command ${name}`)
  return command.run(given, { signal: new AbortController().signal, report: () => undefined })
}

/** Refused before anything is opened: opening a missing embedded datastore would create one. */
export function assertThere({ storage }: Config): void {
  if (storage.kind === 'embedded' && !holdsDatastore(storage.directory))
    throw new BootError(1, `There is no datastore in ${storage.directory}; name the right one with --data-dir.`)
}

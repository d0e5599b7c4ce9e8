import { restartAfterRestore, type Restarted } from '../adapters/postgres/after-restore.ts'
import { openBackend } from '../composition/backend.ts'
import { BootError } from '../ports/boot-error.ts'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/config-error.ts'
import { createLog, type TextSink } from '../composition/log.ts'
import { holdsDatastore } from '../composition/open-storage.ts'
import { configOf, runAdmin, type AdminCall } from './admin.ts'

const HELP = `Tells a datastore that it was restored to an earlier time.

Usage: ctl admin after-restore [flags of ctl serve]

Run it once, after the backup is restored and before a server starts on it. A restored datastore has lower positions and
sequence numbers of events than agents have seen, and an agent could take new events for old ones. The command raises
both above all earlier values. Each agent then pulls its whole state when it connects again. It also makes the preshared
keys newer than those that nodes hold, which are then replaced. Nothing else changes, and a second run does no harm.
ctl admin backup restore does all of this by itself.
`

/** Runs `ctl admin after-restore`: prints in one sentence what it did. Resolves with the exit code. */
export function runAfterRestore(call: AdminCall): Promise<number> {
  return runAdmin({ name: 'admin after-restore', help: HELP }, call, async () => {
    const { lanes } = await restart(configOf(call.argv, call.env), call.stderr)
    call.stderr.write(`Events restart: ${lanes} nodes will pull their state when they come back.\n`)
  })
}

async function restart(config: Config, stderr: TextSink): Promise<Restarted> {
  assertRestored(config)
  const log = createLog(config.logLevel, stderr)
  const ignore = (): void => undefined // A failure here fails the command, which reports it.
  const backend = await openBackend(config, { log, onNew: ignore, onAuditFailure: ignore, onBroken: ignore })
  try {
    return await backend.datastore.transaction('worker', (tx) => restartAfterRestore(tx, backend.clock.now()))
  } finally {
    await backend.bus.close()
    await backend.engine.close()
    await backend.datastore.close()
  }
}

/** Refused before anything is opened: opening a missing embedded datastore would create one. */
function assertRestored({ storage }: Config): void {
  if (storage.kind === 'memory') throw new ConfigError(1, '--dev keeps nothing, so there is nothing to restore.')
  if (storage.kind === 'embedded' && !holdsDatastore(storage.directory))
    throw new BootError(1, `There is no datastore in ${storage.directory}; name the right one with --data-dir.`)
}

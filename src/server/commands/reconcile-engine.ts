import type { Logger } from 'pino'
import { openBackend } from '../composition/backend.ts'
import { BootError } from '../ports/boot-error.ts'
import type { Config } from '../config/config.ts'
import type { Reconciliation } from '../ports/authz-reconciler.ts'

/**
 * Opens a restored datastore as a server does and compares the authorization engine with it: what SpiceDB has of the undone
 * time is removed, what it lacks is written. Resolves with a sentence for the operator.
 *
 * @param open opens it; another function in tests
 * @throws BootError where it cannot be opened; the datastore is restored nevertheless, and the sentence says that
 */
export async function reconcileEngine(config: Config, log: Logger, open = openBackend): Promise<string> {
  try {
    return await reconcileOver(config, log, open)
  } catch (error) {
    throw restoredNevertheless(error)
  }
}

async function reconcileOver(config: Config, log: Logger, open: typeof openBackend): Promise<string> {
  const ignore = (): void => undefined // A failure here fails the command, which reports it.
  const backend = await open(config, { log, onNew: ignore, onAuditFailure: ignore, onBroken: ignore })
  try {
    await backend.feed.start()
    await backend.engine.prepare()
    const found = await backend.reconciler?.reconcile()
    return found === undefined ? 'The authorization engine cannot be compared with the datastore.' : sentence(found)
  } finally {
    backend.feed.stop()
    await backend.bus.close()
    await backend.engine.close()
    await backend.datastore.close()
  }
}

/** A second restore would be refused: the sentence has to name the other way. */
function restoredNevertheless(error: unknown): unknown {
  if (!(error instanceof BootError)) return error
  return new BootError(
    error.exitCode,
    `The backup is restored, but the authorization engine was not compared with it: ${error.message} Then start the server and run ctl authz reconcile.`,
    error,
  )
}

function sentence({ checked, granted, revoked, unresolved }: Reconciliation): string {
  const compared = `Compared ${checked} relation tuples with the authorization engine`
  if (unresolved > 0) return `${compared}: ${unresolved} differ. Run ctl authz reconcile once the server runs.`
  return granted + revoked === 0
    ? `${compared}: all are there.`
    : `${compared}: wrote ${granted} and removed ${revoked}.`
}

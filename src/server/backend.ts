import type { Logger } from 'pino'
import { createEmbeddedAuthorizer, type EmbeddedAuthorizer } from './adapters/embedded-authz/authorizer.ts'
import { looseMode } from './adapters/keyring/master-key.ts'
import { openRing, proveMasterKey } from './adapters/keyring/open-keyring.ts'
import { createKeyring, createSecretStore } from './adapters/keyring/ring.ts'
import { createChangeFeed, type FollowedFeed } from './adapters/postgres/change-feed.ts'
import { migrate } from './adapters/postgres/migrate.ts'
import { createUnitOfWork } from './adapters/postgres/unit-of-work.ts'
import { openSigner } from './adapters/sealed-signer/open-signer.ts'
import { systemClock } from './adapters/system/clock.ts'
import { createUuidV7 } from './adapters/system/uuid-v7.ts'
import type { Config } from './config.ts'
import type { Clock, IdSource } from './ports/clock.ts'
import type { Datastore } from './ports/datastore.ts'
import type { Keyring, SecretStore } from './ports/keyring.ts'
import type { Signer } from './ports/signer.ts'
import type { UnitOfWork } from './ports/unit-of-work.ts'

/** Every port with its adapter behind it. */
export interface Backend {
  readonly datastore: Datastore
  readonly keyring: Keyring
  readonly secrets: SecretStore
  readonly signer: Signer
  readonly feed: FollowedFeed
  readonly authorizer: EmbeddedAuthorizer
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly ids: IdSource
}

export interface BackendHooks {
  readonly log: Logger
  /** Hears of an audit row that a change had to leave behind. */
  readonly onAuditFailure: () => void
  /** Hears once when the embedded datastore broke: nothing is acknowledged any more. */
  readonly onBroken: (error: Error) => void
}

/**
 * Opens the datastore, proves the master key before anything is written, migrates, and opens what rests on it.
 * The change feed is not started yet: whoever caches subscribes first.
 *
 * @throws BootError in one sentence; what was opened is closed again.
 */
export async function openBackend(config: Config, hooks: BackendHooks): Promise<Backend> {
  const datastore = await openDatastore(config, hooks)
  try {
    return await openOver(datastore, config, hooks)
  } catch (error) {
    await datastore.close()
    throw error
  }
}

/** Only the adapter in use is loaded: each brings a driver of its own. */
async function openDatastore({ storage, pools }: Config, { log, onBroken }: BackendHooks): Promise<Datastore> {
  const warn = (message: string, cause?: unknown): void => log.warn({ err: cause }, message)
  if (storage.kind === 'postgres') {
    const { openPostgres } = await import('./adapters/postgres/database.ts')
    return openPostgres({ url: storage.url, pools, warn })
  }
  const { openPglite } = await import('./adapters/pglite/database.ts')
  return openPglite({ dataDir: storage.kind === 'memory' ? undefined : storage.directory, onFailure: onBroken })
}

async function openOver(datastore: Datastore, config: Config, hooks: BackendHooks): Promise<Backend> {
  const { log } = hooks
  const clock = systemClock
  const ids = createUuidV7(clock)
  const master = await proveMasterKey(datastore.pool('interactive'), config.masterKey)
  const loose = looseMode(config.masterKey)
  if (loose !== undefined) log.warn(loose)
  const migrated = await migrate(datastore)
  if (migrated.length > 0) log.info({ migrations: migrated }, 'schema brought up to date')
  const ring = await openRing(datastore, master, clock)
  const secrets = createSecretStore(ring)
  const signer = await openSigner({ datastore, secrets, clock })
  const feed = createChangeFeed({ datastore, warn: (message, cause) => log.warn({ err: cause }, message) })
  const authorizer = createEmbeddedAuthorizer({ datastore, changeFeed: feed })
  const unitOfWork = createUnitOfWork({
    datastore,
    feed,
    clock,
    ids,
    validateTuple: authorizer.validateTuple,
    onAuditFailure(error, { relation, correlationId }) {
      hooks.onAuditFailure()
      log.error({ err: error, relation, correlation_id: correlationId }, 'an audit row could not be written')
    },
    onLateFeed: (error) => log.warn({ err: error }, 'a committed change was not seen in time'),
  })
  return { datastore, keyring: createKeyring(ring), secrets, signer, feed, authorizer, unitOfWork, clock, ids }
}

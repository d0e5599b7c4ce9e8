import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { looseMode } from '../adapters/keyring/master-key.ts'
import { isUnsealed, openRing, proveMasterKey } from '../adapters/keyring/open-keyring.ts'
import { createKeyring, createSealing } from '../adapters/keyring/ring.ts'
import { createChangeFeed, type FollowedFeed } from '../adapters/postgres/change-feed.ts'
import { migrate } from '../adapters/postgres/migrate.ts'
import { assertSchemaCompatible } from '../adapters/postgres/schema-compatibility.ts'
import { takeTerm } from '../adapters/postgres/terms.ts'
import { createUnitOfWork } from '../adapters/postgres/unit-of-work.ts'
import type { FollowingSigner } from '../adapters/signing-keys/open-signer.ts'
import { awaitingLease } from '../adapters/stale-checks/awaiting-lease.ts'
import { withStaleChecks } from '../adapters/stale-checks/stale-checks.ts'
import { systemClock } from '../adapters/system/clock.ts'
import { recordRun } from '../adapters/system/run-record.ts'
import { createUuidV7 } from '../adapters/system/uuid-v7.ts'
import { SCHEMA } from '../../shared/authz/schema.ts'
import { SERVICE_MODEL } from '../../shared/authz/service-model.ts'
import type { Config } from '../config/config.ts'
import { openEngine, type Engine } from './open-engine.ts'
import { openReleaseVerifier } from './open-release-verifier.ts'
import { openEventBus, type OpenedBus } from './open-event-bus.ts'
import { openSecretStore, type OpenedSecrets } from './open-secret-store.ts'
import { openConfiguredSigner } from './open-signer.ts'
import { openStorage, type OpenedStorage, type StorageHooks } from './open-storage.ts'
import type { AuthzInsight } from '../ports/authz-insight.ts'
import type { Authorizer } from '../ports/authorizer.ts'
import type { AuthzLookups } from '../ports/authz-lookups.ts'
import type { AuthzReconciler } from '../ports/authz-reconciler.ts'
import type { Clock, IdSource } from '../ports/clock.ts'
import type { Datastore } from '../ports/datastore.ts'
import type { Candidacy, SeatPlace } from '../ports/leader-seat.ts'
import type { Keyring, Sealing } from '../ports/keyring.ts'
import type { ReleaseVerifier } from '../ports/release-verifier.ts'
import type { OpenSnapshot } from '../ports/snapshot.ts'
import type { TraceMarks } from '../ports/tracing.ts'
import type { AuditEntry, UnitOfWork } from '../ports/unit-of-work.ts'

/** Every port with its adapter behind it. */
export interface Backend {
  readonly datastore: Datastore
  /** Whether the last run did not end in order. */
  readonly isRecovered: boolean
  /** Snapshots for backups; undefined where nothing is kept. */
  readonly openSnapshot: OpenSnapshot | undefined
  readonly keyring: Keyring
  readonly sealing: Sealing
  readonly secretStore: OpenedSecrets
  readonly signer: FollowingSigner
  readonly feed: FollowedFeed
  readonly engine: Engine
  readonly bus: OpenedBus
  readonly authorizer: Authorizer
  readonly lookups: AuthzLookups
  /** Undefined where the engine cannot tell. */
  readonly insight: AuthzInsight | undefined
  /** Undefined where the engine cannot be compared. */
  readonly reconciler: AuthzReconciler | undefined
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly ids: IdSource
  readonly candidacy: Candidacy
  /** Undefined where no signers are configured: there are no releases. */
  readonly releaseVerifier: ReleaseVerifier | undefined
}

export interface BackendHooks extends StorageHooks {
  /** Hears of an audit row that a change had to leave behind. */
  readonly onAuditFailure: () => void
  /** Called before anything is written to a new datastore; what it throws ends the opening. */
  readonly onNew: () => void
}

/** Ports that a caller brings instead of those of the configuration. */
export interface BroughtPorts {
  /** Opens the datastore. Default: the one that the configuration names. */
  readonly openStorage?: typeof openStorage
  /** Default: the clock of the system. */
  readonly clock?: Clock
}

/**
 * Opens the datastore, proves the master key before anything is written, migrates, and opens what rests on it.
 * The change feed is not started yet: a caller that caches subscribes first.
 *
 * @throws BootError in one sentence; what was opened is closed again.
 */
export async function openBackend(config: Config, hooks: BackendHooks, brought: BroughtPorts = {}): Promise<Backend> {
  const { openStorage: open = openStorage, clock = systemClock } = brought
  const releaseVerifier = await openReleaseVerifier(config)
  const opened = recorded(await open(config, hooks), config.dataDir)
  try {
    return { ...(await openOver({ ...opened, clock }, config, hooks)), releaseVerifier }
  } catch (error) {
    await opened.datastore.close()
    throw error
  }
}

interface Opened extends Pick<OpenedStorage, 'openSnapshot'> {
  readonly datastore: Datastore
  readonly place: SeatPlace
  readonly isRecovered: boolean
}

/** PostgreSQL does not know how the server's last run ended; a record beside the master key does. */
function recorded(opened: OpenedStorage, dataDir: string): Opened {
  const { datastore, isRecovered } = opened
  if (isRecovered !== undefined) return { ...opened, isRecovered }
  const run = recordRun(dataDir)
  const close = (): Promise<void> => datastore.close().finally(() => run.end())
  return { ...opened, datastore: { ...datastore, close }, isRecovered: run.wasAbandoned }
}

interface Ground extends Opened {
  readonly clock: Clock
}

async function openOver(
  ground: Ground,
  config: Config,
  hooks: BackendHooks,
): Promise<Omit<Backend, 'releaseVerifier'>> {
  const { datastore, clock, isRecovered, openSnapshot } = ground
  if (await isUnsealed(datastore.pool('interactive'))) hooks.onNew()
  const warn = (message: string): void => hooks.log.warn(message)
  const master = await proveMasterKey(datastore.pool('interactive'), config.masterKey, warn)
  await prepareSchema(datastore, config, hooks.log)
  const ring = await openRing(datastore, master, clock)
  const sealing = createSealing(ring)
  const secretStore = await openSecretStore(config, { datastore, sealing, log: hooks.log })
  const signer = await openConfiguredSigner(config, { datastore, sealing, clock, log: hooks.log })
  const changing = await openChanges(ground, config, hooks)
  const authorizer = withStaleChecks(changing.authorizer, config.staleChecks)
  const bus = await openEventBus(config, { datastore, clock, log: hooks.log })
  const keyring = createKeyring(ring)
  return { datastore, isRecovered, openSnapshot, ...changing, bus, authorizer, keyring, sealing, secretStore, signer }
}

async function prepareSchema(datastore: Datastore, { masterKey }: Config, log: Logger): Promise<void> {
  const loose = looseMode(masterKey)
  if (loose !== undefined) log.warn(loose)
  const migrated = await migrate(datastore)
  await assertSchemaCompatible(datastore, { text: SCHEMA, model: SERVICE_MODEL })
  const [first] = migrated
  if (first === undefined) return
  // A new datastore has nothing that a person would want to know of it.
  log[first.startsWith('0001-') ? 'debug' : 'info']({ migrations: migrated }, 'schema brought up to date')
}

type Changing = Pick<
  Backend,
  'feed' | 'engine' | 'authorizer' | 'lookups' | 'insight' | 'reconciler' | 'unitOfWork' | 'clock' | 'ids' | 'candidacy'
>

/** The change feed, what follows it, the unit of work that feeds it, and the same for a leader. */
async function openChanges(
  { datastore, place, clock }: Ground,
  config: Config,
  { log, onAuditFailure }: BackendHooks,
): Promise<Changing> {
  const sources = { clock, ids: createUuidV7(clock) }
  const feed = createChangeFeed({ datastore, warn: (message, cause) => log.warn({ err: cause }, message) })
  const engine = await openEngine(config, { datastore, feed, log })
  const changes = {
    ...sources,
    feed,
    validateTuple: engine.rules.validateTuple,
    mirror: engine.mirror,
    onAuditFailure(error: unknown, { relation, correlationId }: AuditEntry, trace: TraceMarks | undefined) {
      onAuditFailure()
      log.error({ err: error, relation, correlation_id: correlationId, ...trace }, 'an audit row could not be written')
    },
    onLateFeed: (error: unknown) => log.warn({ err: error }, 'a committed change was not seen in time'),
    onEmitted: () => place.giveHint(),
  }
  const unitOfWorkOver = (over: Datastore): UnitOfWork => createUnitOfWork({ ...changes, datastore: over })
  const terms = { datastore, unitOfWorkOver, holder: `${hostname()}:${process.pid}` }
  const candidacy: Candidacy = {
    openSeat: (onHint) => place.openSeat(onHint),
    takeTerm: (signal) => takeTerm(terms, signal),
  }
  const { authorizer, lookups, insight } = awaitingLease(engine, feed)
  const { reconciler } = engine
  const unitOfWork = unitOfWorkOver(datastore)
  return { ...sources, feed, engine, authorizer, lookups, insight, reconciler, unitOfWork, candidacy }
}

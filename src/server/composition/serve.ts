import type { Server as HttpsServer } from 'node:https'
import type { Logger } from 'pino'
import { createAuditSink } from '../adapters/postgres/audit-sink.ts'
import type { OtlpTracing } from '../adapters/otlp-tracing/otlp-tracing.ts'
import type { Prometheus } from '../adapters/prometheus/prometheus.ts'
import { createAdminCommands } from './admin-commands.ts'
import { adminSocketPath, openAdminSocket, type AdminSocket } from './admin-socket.ts'
import { assemble, listen, type Assembly } from './assembly.ts'
import { openBackend, type Backend } from './backend.ts'
import { openSchedule, unprobedSchedule } from './backup-schedule.ts'
import type { BackupSchedule } from '../backup/schedule/schedule.ts'
import type { Config } from '../config/config.ts'
import type { Address } from '../config/values.ts'
import { firstRun, type FirstRunDeps, type FirstRunOutcome } from '../first-run/first-run.ts'
import type { TokenHandover } from '../first-run/token-handover.ts'
import { createBootstrapFactories } from './bootstrap-factories.ts'
import { createUsers } from '../slices/identities/users.ts'
import { removeSpentPassword, type FirstAdministrator } from '../first-run/administrator.ts'
import { createFirstAdministrator } from './first-administrator.ts'
import { settleBinding } from './local-provider.ts'
import { createAuditQueue } from '../http/audit/audit-queue.ts'
import { startJobs } from './jobs.ts'
import { NO_RELAY_COUNTERS } from '../event-relay/counters.ts'
import type { Leadership } from '../jobs/leadership.ts'
import { hostPort, probeAddress } from './listen.ts'
import { createMetrics, orderOf, type Metrics } from './metrics.ts'
import { createHealth, type Health } from '../ops/health.ts'
import { createFileWatch, type FileWatch } from './open-files.ts'
import { openTracing } from './open-tracing.ts'
import { issueOwnToken, requestInProcess, type InProcessCall } from './in-process-requests.ts'
import { createPasswordHashing, type PasswordHashing } from '../slices/local-accounts/password-hash.ts'
import type { ApprovalKind } from '../ports/approval-kind.ts'
import type { AuditEntry } from '../ports/unit-of-work.ts'
import { probesOf } from './probes.ts'
import { createServices, type Services } from './services.ts'
import type { TlsMaterial } from './tls-files.ts'
import { closeBackend, drain } from './stop-server.ts'
import { systemClock } from '../adapters/system/clock.ts'
import { checkTls, openTls, type AuthorityFacts, type ServedTls } from './served-tls.ts'
import { unprobedOf } from './unprobed.ts'

export interface ServeOptions {
  readonly config: Config
  readonly log: Logger
  /** Takes the bootstrap token of a first start. */
  readonly handover: TokenHandover
  /** Takes the one-time password of the first administrator; nobody by default. */
  readonly initialPassword?: TokenHandover
  /** Hears once when the embedded datastore was lost: nothing is acknowledged until the server is started again. */
  readonly onBroken: (error: Error) => void
  /** As costly as it should be by default. */
  readonly passwordHashing?: PasswordHashing
  /** How the command line is typed beside the server; `ctl` by default. */
  readonly command?: string
  /** Kinds of approvals beside those of the slices; none by default. */
  readonly approvalKinds?: readonly ApprovalKind[]
  /** Opens what the server rests on; the real thing by default. */
  readonly openBackend?: typeof openBackend
}

/** A server that accepts requests. */
export interface RunningServer {
  readonly url: string
  readonly opsUrl: string | undefined
  readonly firstRun: FirstRunOutcome
  /** Whether the last run did not end in order. */
  readonly isRecovered: boolean
  /** Issues another token to the bootstrap identity, to be used within the hour by this very process. */
  issueToken(): Promise<string>
  /** Makes a request of its own API, through every check, without a socket. Resolves with the parsed answer. */
  request(call: InProcessCall): Promise<unknown>
  /** The server's own certificate authority; undefined where it has none. */
  readonly authority: AuthorityFacts | undefined
  /** Reads the certificate and key again, or renews them. @throws BootError when they do not fit; the old ones stay. */
  reloadTls(): Promise<void>
  /**
   * Stops accepting, lets what runs finish, writes what is queued, checkpoints and closes, and means to take no longer
   * than `withinMs` (10 s by default) for all of it. A datastore that does not answer may take longer.
   */
  close(withinMs?: number): Promise<void>
}

/** How long a server that stops may take (decisions: First run). */
const DRAIN_MS = 10_000
/** What of that requests may take: the rest is for writing and closing. */
const REQUESTS_SHARE = 0.8

/** How long a collector may take for what is queued when the server stops. */
const LAST_SPANS_MS = 2_000

const NO_COUNTERS: Prometheus['audit'] = { written() {}, dropped() {}, failed() {} }

/**
 * Composes and starts the server: configuration, adapters, services, edge, listeners. Nothing is written before the
 * addresses, the certificate and the master key have been found good.
 *
 * @throws BootError in one sentence that says what to do.
 */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { config, log } = options
  checkTls(config.tls, systemClock)
  const address = await probeAddress(config.listen, '--listen')
  if (config.opsListen !== undefined) await probeAddress(config.opsListen, '--ops-listen')
  const fileWatch = createFileWatch({ config, clock: systemClock })
  const metrics = config.opsListen && (await createMetrics(fileWatch?.bounds.files))
  const backend = await (options.openBackend ?? openBackend)(config, {
    log,
    onAuditFailure: () => metrics?.prometheus.audit.failed(1),
    onNew() {
      options.handover.prove()
      options.initialPassword?.prove()
    },
    onBroken: options.onBroken,
  })
  try {
    const hashing = options.passwordHashing ?? createPasswordHashing()
    const tracing = config.tracing && (await openTracing(config.tracing, log))
    // Another server of this data directory would make another authority: it is made once the directory is locked.
    const tls = await openTls({ config, clock: backend.clock, log })
    return await startOver({ ...options, hashing, tls, address, metrics, backend, tracing, fileWatch })
  } catch (error) {
    await closeBackend(backend)
    throw error
  }
}

/** What is there once the backend is open. */
interface Ground extends ServeOptions {
  readonly hashing: PasswordHashing
  readonly tls: ServedTls | undefined
  readonly address: Address
  readonly metrics: Metrics | undefined
  readonly backend: Backend
  readonly tracing: OtlpTracing | undefined
  readonly fileWatch: FileWatch | undefined
}

async function startOver(ground: Ground): Promise<RunningServer> {
  const { log, backend } = ground
  const schedule = openSchedule(ground)
  const url = urlOf(ground)
  const serving = { url, health: await openHealth(ground, schedule), ...createServing(ground, url) }
  await backend.feed.start()
  await backend.engine.prepare()
  backend.signer.follow((error) => log.warn({ err: error }, 'the signing keys could not be reloaded'))
  await serving.services.start()
  const founding = { ...backend, factories: createBootstrapFactories(backend, ground.config.env) }
  const outcome = await settle(ground, founding, url)
  const assembly = assemble({ ...ground, ...serving, tls: ground.tls?.current() })
  const opsUrl = await listen(assembly, ground)
  const jobs = startLeading(ground, serving.services, schedule)
  const running = { ...ground, founding, outcome, jobs, adminSocket: await openOwnSocket(ground) }
  return runningOver(running, assembly, opsUrl)
}

/** On PostgreSQL commands open the database themselves, and what is in memory has no directory. */
async function openOwnSocket({ config, backend, log }: Ground): Promise<AdminSocket | undefined> {
  if (config.storage.kind !== 'embedded') return undefined
  const path = adminSocketPath(config.dataDir)
  return openAdminSocket({ path, commands: createAdminCommands(backend, config), log })
}

function startLeading(
  { log, backend, config, metrics, tracing }: Ground,
  services: Services,
  schedule: BackupSchedule | undefined,
): Leadership {
  const relayCounters = metrics?.prometheus.relay ?? NO_RELAY_COUNTERS
  const jobs = startJobs(backend, {
    services,
    log,
    tracing,
    relayCounters,
    hintsPerSecond: config.hintsPerSecond,
    backupJob: schedule?.job,
  })
  if (metrics !== undefined) Object.assign(metrics, { order: orderOf(backend, jobs), backups: schedule })
  return jobs
}

async function openHealth(
  { backend, metrics, fileWatch }: Ground,
  schedule: BackupSchedule | undefined,
): Promise<Health> {
  const ofFiles = fileWatch === undefined ? [] : [fileWatch.unprobed]
  const unprobed = [...unprobedOf(backend), ...unprobedSchedule(schedule), ...ofFiles]
  const health = createHealth(probesOf(backend), backend.clock, unprobed)
  if (metrics !== undefined) Object.assign(metrics, { health, engine: backend.engine })
  // The start has used the datastore: whatever happens to it from now on only degrades this server (S1 Degradation 1).
  await health.report()
  health.follow()
  return health
}

function createServing(
  { backend, config, hashing, log, metrics, approvalKinds, command }: Ground,
  baseUrl: string,
): Pick<Assembly, 'audit' | 'services'> {
  const counters = metrics?.prometheus.audit ?? NO_COUNTERS
  const audit = createAuditQueue({ ...backend, sink: createAuditSink(backend.datastore), log, counters })
  const onRefused = (entry: AuditEntry): void => audit.add(entry)
  const streamMeter = metrics?.prometheus.streams
  const options = { config, hashing, log, baseUrl, onRefused, streamMeter, approvalKinds, command }
  return { audit, services: createServices(backend, options) }
}

interface Started extends Ground {
  readonly founding: Omit<FirstRunDeps, 'handover'>
  readonly outcome: FirstRunOutcome
  readonly jobs: Leadership
  readonly adminSocket: AdminSocket | undefined
}

function runningOver(started: Started, assembly: Assembly, opsUrl: string | undefined): RunningServer {
  const { backend, log, founding, jobs, tracing, adminSocket, tls, fileWatch } = started
  const serveTls = (material: TlsMaterial): void => (assembly.app.server as HttpsServer).setSecureContext(material)
  const stopRenewing = tls?.follow(serveTls)
  fileWatch?.follow({ ...assembly, log })
  return {
    url: assembly.url,
    opsUrl,
    firstRun: started.outcome,
    isRecovered: backend.isRecovered,
    issueToken: () => issueOwnToken(founding),
    request: (call) => requestInProcess(assembly.app, call),
    authority: tls?.authority,
    async reloadTls() {
      if (tls !== undefined) serveTls(await tls.reload())
    },
    async close(withinMs = DRAIN_MS) {
      stopRenewing?.()
      fileWatch?.stop()
      await Promise.all([adminSocket?.close(), drain({ ...assembly, jobs }, withinMs * REQUESTS_SHARE)])
      await tracing?.close(LAST_SPANS_MS)
      await closeBackend(backend)
    },
  }
}

/** What has to be there before the first request: the provider's binding, and whatever a first run makes. */
async function settle(
  ground: Ground,
  founding: Omit<FirstRunDeps, 'handover' | 'administrator'>,
  url: string,
): Promise<FirstRunOutcome> {
  const { backend, config, handover } = ground
  await settleBinding(backend, config, url)
  const administrator = administratorOf(ground)
  const outcome = await firstRun({ ...founding, handover, administrator })
  if (administrator !== undefined) await removeSpentPassword(config.initialPasswordFile, administrator)
  return outcome
}

function urlOf({ config, tls, address }: Ground): string {
  return config.baseUrl ?? `${tls === undefined ? 'http' : 'https'}://${hostPort(address)}`
}

/** Where the provider is off there would be no way to sign in with what a first run made. */
function administratorOf({ backend, config, initialPassword, hashing }: Ground): FirstAdministrator | undefined {
  if (!config.hasBundledProvider || initialPassword === undefined) return undefined
  return createFirstAdministrator({ backend, users: createUsers(backend), hashing, handover: initialPassword })
}

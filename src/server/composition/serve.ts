import type { Server as HttpServer } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import { promisify } from 'node:util'
import type { Logger } from 'pino'
import { createAuditSink } from '../adapters/postgres/audit-sink.ts'
import type { OtlpTracing } from '../adapters/otlp-tracing/otlp-tracing.ts'
import type { OrderStates, Prometheus } from '../adapters/prometheus/prometheus.ts'
import { openBackend, type Backend } from './backend.ts'
import type { Config } from '../config/config.ts'
import type { Address } from '../config/values.ts'
import { firstRun, remintBootstrapToken, type FirstRunDeps, type FirstRunOutcome } from '../first-run/first-run.ts'
import { createMemoryHandover } from '../first-run/memory-handover.ts'
import type { TokenHandover } from '../first-run/token-handover.ts'
import { createFounders } from './bootstrap-factories.ts'
import { createUsers } from '../slices/identities/users.ts'
import { removeSpentPassword, type AdministratorFounding } from '../first-run/administrator.ts'
import { createAdministratorFounding } from './administrator-founding.ts'
import { settleBinding } from './local-provider.ts'
import { createApp, type App } from '../http/app.ts'
import { createAuditQueue, type AuditQueue } from '../http/audit/audit-queue.ts'
import { startJobs } from './jobs.ts'
import { NO_RELAY_COUNTERS } from '../event-relay/counters.ts'
import { readRelayLag } from '../event-relay/lag-store.ts'
import type { Leadership } from '../jobs/leadership.ts'
import { hostPort, listenFailure, listenOn, probeAddress } from './listening.ts'
import { createHealth, httpStatusOf, type Health } from '../ops/health.ts'
import { createOpsServer } from '../ops/ops-listener.ts'
import { openTracing } from './open-tracing.ts'
import { readLag } from '../outbox/store.ts'
import { createPasswordHashing, type PasswordHashing } from '../slices/local-accounts/password-hash.ts'
import type { AuditEntry } from '../ports/unit-of-work.ts'
import { probesOf } from './probes.ts'
import { createServices, type Services } from './services.ts'
import { readTls, type TlsMaterial } from './tls-files.ts'

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
  request(call: OwnCall): Promise<unknown>
  /** Reads the certificate and key again. @throws BootError when they do not fit; the old ones stay. */
  reloadTls(): void
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

const OWN_TOKEN_SECONDS = 3600

const NO_COUNTERS: Prometheus['audit'] = { written() {}, dropped() {}, failed() {} }

/**
 * Composes and starts the server: configuration, adapters, services, edge, listeners. Nothing is written before the
 * addresses, the certificate and the master key have been found good.
 *
 * @throws BootError in one sentence that says what to do.
 */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { config, log } = options
  const tls = config.tls && readTls(config.tls)
  const address = await probeAddress(config.listen, '--listen')
  if (config.opsListen !== undefined) await probeAddress(config.opsListen, '--ops-listen')
  const metrics = config.opsListen && (await createMetrics())
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
    return await startOver({ ...options, hashing, tls, address, metrics, backend, tracing })
  } catch (error) {
    await closeBackend(backend)
    throw error
  }
}

/** The counters, and places for what else they show, which comes to be later. */
interface Metrics {
  readonly prometheus: Prometheus
  health: Health | undefined
  order: OrderStates | undefined
  engine: Backend['engine'] | undefined
  app: App | undefined
}

/** Loaded only where metrics are served. */
async function createMetrics(): Promise<Metrics> {
  const { createPrometheus } = await import('../adapters/prometheus/prometheus.ts')
  const prometheus = createPrometheus({
    probeStates: async () => (await metrics.health?.report())?.probes ?? [],
    order: () => metrics.order,
    authzIndex: () => metrics.engine?.indexStats?.(),
    load: () => metrics.app?.load(),
  })
  const metrics: Metrics = { prometheus, health: undefined, order: undefined, engine: undefined, app: undefined }
  return metrics
}

function orderOf({ datastore, clock }: Backend, jobs: Leadership): OrderStates {
  const db = datastore.pool('interactive')
  return {
    isLeading: () => jobs.isLeading(),
    outboxLag: () => readLag(db),
    relayLag: () => readRelayLag(db, clock.now()),
  }
}

/** What is there once the backend is open. */
interface Ground extends ServeOptions {
  readonly hashing: PasswordHashing
  readonly tls: TlsMaterial | undefined
  readonly address: Address
  readonly metrics: Metrics | undefined
  readonly backend: Backend
  readonly tracing: OtlpTracing | undefined
}

async function startOver(ground: Ground): Promise<RunningServer> {
  const { config, log, backend } = ground
  const health = await openHealth(ground)
  const url = urlOf(ground)
  const serving = { url, health, ...createServing(ground, url) }
  await backend.feed.start()
  await backend.engine.prepare()
  backend.signer.follow((error) => log.warn({ err: error }, 'the signing keys could not be read anew'))
  await serving.services.start()
  const founding = { ...backend, founders: createFounders(backend, config.env) }
  const outcome = await settle(ground, founding, url)
  const assembly = assemble({ ...ground, ...serving })
  const opsUrl = await listen(assembly, ground)
  const jobs = startLeading(ground, serving.services)
  return runningOver({ ...ground, founding, outcome, jobs }, assembly, opsUrl)
}

function startLeading({ log, backend, metrics, tracing }: Ground, services: Services): Leadership {
  const relayCounters = metrics?.prometheus.relay ?? NO_RELAY_COUNTERS
  const jobs = startJobs(backend, { services, log, tracing, relayCounters })
  if (metrics !== undefined) metrics.order = orderOf(backend, jobs)
  return jobs
}

async function openHealth({ backend, metrics }: Ground): Promise<Health> {
  const health = createHealth(probesOf(backend), backend.clock)
  if (metrics !== undefined) Object.assign(metrics, { health, engine: backend.engine })
  // The start has used the datastore: whatever happens to it from now on only degrades this server (S1 Degradation 1).
  await health.report()
  health.follow()
  return health
}

function createServing(
  { backend, config, hashing, log, metrics }: Ground,
  baseUrl: string,
): Pick<Assembly, 'audit' | 'services'> {
  const counters = metrics?.prometheus.audit ?? NO_COUNTERS
  const audit = createAuditQueue({ ...backend, sink: createAuditSink(backend.datastore), log, counters })
  const onRefused = (entry: AuditEntry): void => audit.add(entry)
  const streamMeter = metrics?.prometheus.streams
  return { audit, services: createServices(backend, { config, hashing, log, baseUrl, onRefused, streamMeter }) }
}

interface Started extends Ground {
  readonly founding: Omit<FirstRunDeps, 'handover'>
  readonly outcome: FirstRunOutcome
  readonly jobs: Leadership
}

function runningOver(started: Started, assembly: Assembly, opsUrl: string | undefined): RunningServer {
  const { backend, config, founding, jobs, tracing } = started
  return {
    url: assembly.url,
    opsUrl,
    firstRun: started.outcome,
    isRecovered: backend.isRecovered,
    issueToken: () => issueOwnToken(founding),
    request: (call) => requestOwn(assembly.app, call),
    reloadTls() {
      if (config.tls !== undefined) (assembly.app.server as HttpsServer).setSecureContext(readTls(config.tls))
    },
    async close(withinMs = DRAIN_MS) {
      await drain({ ...assembly, jobs }, withinMs * REQUESTS_SHARE)
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
function administratorOf({ backend, config, initialPassword, hashing }: Ground): AdministratorFounding | undefined {
  if (!config.hasBundledProvider || initialPassword === undefined) return undefined
  return createAdministratorFounding({ backend, users: createUsers(backend), hashing, handover: initialPassword })
}

/** The parts that run, and what ending them takes. */
interface Assembly {
  readonly url: string
  readonly app: App
  readonly ops: HttpServer | undefined
  readonly health: Health
  readonly services: Services
  readonly audit: AuditQueue
}

function assemble(ground: Ground & Pick<Assembly, 'health' | 'services' | 'audit' | 'url'>): Assembly {
  const { config, log, backend, services, metrics, tls, health, audit, url } = ground
  const prometheus = metrics?.prometheus
  const app = createApp({
    ...backend,
    ...services,
    audit,
    log,
    tls,
    trustedProxies: config.trustedProxies,
    rates: config.rates,
    staleTimes: { checks: config.staleChecks.ttlMs, state: config.staleStates.ttlMs },
    allowedOrigins: [url, ...config.allowedOrigins],
    ownOrigin: url,
    observe: prometheus?.observe,
    overload: prometheus?.overload,
    tracing: ground.tracing,
  })
  mountHealth(app, health)
  if (metrics !== undefined) metrics.app = app
  const onError = (error: unknown): void => log.error({ err: error }, 'the operations listener failed')
  const ops = prometheus && createOpsServer({ health, metrics: prometheus, onError })
  return { url, app, ops, health, services, audit }
}

/** Open to everybody and outside the contract: what a load balancer asks (S1 Degradation 1). */
function mountHealth({ fastify }: App, health: Health): void {
  fastify.get('/livez', async (_request, reply) => reply.type('text/plain').send('ok\n'))
  fastify.get('/readyz', async (_request, reply) => {
    const report = await health.report()
    return reply.code(httpStatusOf(report)).header('cache-control', 'no-store').send(report)
  })
}

/** Listens on both addresses; resolves with the URL of the operations listener. */
async function listen({ app, ops }: Assembly, { address, config }: Ground): Promise<string | undefined> {
  try {
    await app.listen(address)
  } catch (error) {
    throw listenFailure(error, address, '--listen')
  }
  if (ops === undefined || config.opsListen === undefined) return undefined
  const port = await listenOn(ops, config.opsListen, '--ops-listen')
  return `http://${hostPort({ host: config.opsListen.host, port })}`
}

/** A request that the server makes of itself. */
export interface OwnCall {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly token: string
  readonly body?: object
}

async function requestOwn({ fastify }: App, { method, path, token, body }: OwnCall): Promise<unknown> {
  const headers = { authorization: `Bearer ${token}` }
  const payload = body === undefined ? {} : { payload: body }
  const response = await fastify.inject({ method, url: path, headers, ...payload })
  if (response.statusCode >= 300) throw new Error(`${method} ${path} answered ${response.statusCode} ${response.body}`)
  return response.json()
}

/** Kept in memory alone: whoever asked uses it at once. */
async function issueOwnToken(founding: Omit<FirstRunDeps, 'handover'>): Promise<string> {
  const handover = createMemoryHandover()
  await remintBootstrapToken({ ...founding, handover, tokenSeconds: OWN_TOKEN_SECONDS })
  return handover.token()
}

/** Requests first, then what they left to be written. */
async function drain(
  { app, ops, health, services, audit, jobs }: Assembly & { readonly jobs: Leadership },
  requestsMs: number,
): Promise<void> {
  health.drain()
  await atMost(requestsMs, Promise.all([app.drain(requestsMs), services.drain(), jobs.stop()]))
  await Promise.all([services.flush(), audit.close()])
  if (ops !== undefined) await closeServer(ops)
}

/** Waits for the work, but no longer than so many ms. */
async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}

function closeServer(server: HttpServer): Promise<void> {
  server.closeAllConnections()
  return promisify(server.close.bind(server))()
}

async function closeBackend({ feed, signer, engine, bus, datastore }: Backend): Promise<void> {
  feed.stop()
  signer.stop()
  await bus.close()
  await engine.close()
  await datastore.close()
}

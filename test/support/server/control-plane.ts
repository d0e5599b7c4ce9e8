import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino, { type Logger } from 'pino'
import { assemble } from '../../../src/server/composition/assembly.ts'
import type { Backend } from '../../../src/server/composition/backend.ts'
import { probesOf } from '../../../src/server/composition/probes.ts'
import { createServices, type Services } from '../../../src/server/composition/services.ts'
import { closeBackend } from '../../../src/server/composition/stop-server.ts'
import type { Config } from '../../../src/server/config/config.ts'
import type { AuditQueue } from '../../../src/server/http/audit/audit-queue.ts'
import type { MountedSurface } from '../../../src/server/http/request-context.ts'
import type { SurfaceName } from '../../../src/server/http/slice.ts'
import { createHealth } from '../../../src/server/ops/health.ts'
import type { ApprovalKind } from '../../../src/server/ports/approval-kind.ts'
import type { Db } from '../../../src/server/ports/datastore.ts'
import type { AuditEntry, Change } from '../../../src/server/ports/unit-of-work.ts'
import { contract } from '../../../src/shared/contract/index.ts'
import { spicedbArguments, type SpicedbServer } from '../authz/spicedb-server.ts'
import { unfenced } from '../datastores/leading.ts'
import type { OpenedStore } from '../datastores/stores.ts'
import { hashing } from './hashing.ts'
import { knownCallers, type KnownCallers } from './known-callers.ts'
import { frozenClock, openTestBackend, testConfig, THROWING_LOG, type TestClock } from './test-backend.ts'

/** What a server under test serves, and what it is given instead of its own. */
export interface UnderTest {
  /** Those that are named are served as the server composes them, the others by handlers of the test. */
  readonly surfaces: readonly (SurfaceName | MountedSurface)[]
  /** Ports that replace those of the backend, for the slices and the edge. */
  readonly ports?: Partial<Backend>
  /** Credentials instead of those of the server. The known callers are always tried last. */
  readonly resolvers?: Services['resolvers']
  /** Anti-forgery tokens of the sessions among those credentials. */
  readonly csrfTokens?: Services['csrfTokens']
  /** What is known of targets and replicas, instead of what samples find. */
  readonly capacityLimits?: Services['capacityLimits']
  /** Counts what Domains use, instead of the collector. */
  readonly usage?: Services['usage']
  /** Pages instead of those of the server. */
  readonly pages?: Services['pages']
  /** Settings instead of those of a test, for the slices and the edge. */
  readonly settings?: Partial<Config>
  /** Takes what the slices and the edge log. By default a warning of a slice throws, and the log of the edge is dropped. */
  readonly log?: Logger
  /** Kinds of approvals beside those of the slices. */
  readonly approvalKinds?: readonly ApprovalKind[]
  /** Where the edge listens on loopback, which is then its origin. By default any free port, and `BASE_URL`. */
  readonly port?: number
}

/** What a server is to serve, which may be made of its backend. */
export type Making = UnderTest | ((backend: Backend) => UnderTest)

/** What is served over that backend. */
export const madeOver = (backend: Backend, making: Making): UnderTest =>
  typeof making === 'function' ? making(backend) : making

/** An answer as it came over the socket. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The JSON document; empty when there was none. */
  readonly body: Readonly<Record<string, unknown>>
}

/** A server on loopback, at a frozen time, composed as `ctl serve` composes it. */
export interface ControlPlane extends Omit<Backend, 'clock'> {
  /** Where it listens, for requests that `call` cannot make. */
  readonly url: string
  readonly store: OpenedStore
  readonly db: Db
  readonly callers: KnownCallers
  readonly clock: TestClock
  /** Audit rows that no change carried, in order. */
  readonly audited: AuditEntry[]
  /** `operation` is `<METHOD> <path>`; `as` the subject of a known caller. */
  call(as: string, operation: string, body?: unknown): Promise<Answer>
  /** Changes the store as a service would. */
  readonly change: <T>(work: (change: Change) => Promise<T>) => Promise<T>
  /** Runs one pass of a job of the leader, by its name. */
  runJob(name: string): Promise<boolean>
  stop(): Promise<void>
}

/** Origin under which clients know the server, whatever it listens on. */
export const BASE_URL = 'https://ctl.example'

/** Decides with the embedded engine, or with a real SpiceDB where one is given. Jobs of the leader do not run. */
export async function startControlPlane(
  store: OpenedStore,
  making: Making,
  spicedb?: SpicedbServer,
): Promise<ControlPlane> {
  const clock = frozenClock()
  const scratch = mkdtempSync(join(tmpdir(), 'ctl-control-plane-'))
  const tested = testConfig(spicedb === undefined ? [] : spicedbArguments(spicedb, scratch))
  const opened = await openTestBackend(store, { clock, config: tested })
  const made = madeOver(opened, making)
  const config = { ...tested, ...made.settings }
  const { port: chosen = 0 } = made
  const backend = { ...opened, ...made.ports }
  const url = chosen === 0 ? BASE_URL : `http://127.0.0.1:${chosen}`
  const audited: AuditEntry[] = []
  const audit = keepIn(audited)
  const callers = knownCallers()
  const services = servicesOf({ backend, config, audit, baseUrl: url }, made)
  const { app } = assemble({
    fileWatch: undefined,
    config,
    backend,
    services: { ...services, resolvers: [...services.resolvers, callers.resolver] },
    audit,
    url,
    health: createHealth(probesOf(backend), clock),
    log: made.log ?? pino({ level: 'silent' }),
    metrics: undefined,
    tls: undefined,
    tracing: undefined,
  })
  await opened.feed.start()
  await opened.engine.prepare()
  const port = await app.listen({ host: '127.0.0.1', port: chosen })
  return {
    ...opened,
    url: `http://127.0.0.1:${port}`,
    store,
    db: opened.datastore.pool('interactive'),
    callers,
    clock,
    audited,
    call: (as, operation, body) => send(port, { as, operation, body }),
    change: (work) => opened.unitOfWork.run({ pool: 'interactive', correlationId: 'arranged' }, work),
    runJob(name) {
      const job = services.jobs.find((each) => each.name === name)
      if (job === undefined) throw new Error(`there is no job ${name}`)
      return job.run(unfenced(opened))
    },
    async stop() {
      await app.drain(1_000)
      await services.drain()
      await services.flush()
      await closeBackend(opened)
      rmSync(scratch, { recursive: true, force: true })
    },
  }
}

interface Ground {
  readonly backend: Backend
  readonly config: Config
  readonly audit: AuditQueue
  readonly baseUrl: string
}

/** The services of the server, of which only the surfaces under test are mounted. */
function servicesOf({ backend, config, audit, baseUrl }: Ground, made: UnderTest): Services {
  const services = createServices(backend, {
    config,
    baseUrl,
    hashing,
    log: made.log ?? THROWING_LOG,
    approvalKinds: made.approvalKinds,
    onRefused: (entry) => audit.add(entry),
  })
  const { resolvers = services.resolvers, csrfTokens = services.csrfTokens, pages = services.pages } = made
  const { capacityLimits = services.capacityLimits, usage = services.usage } = made
  const surfaces = made.surfaces.map((one) => (typeof one === 'string' ? surfaceOf(services, one) : one))
  return { ...services, surfaces, resolvers, csrfTokens, pages, capacityLimits, usage }
}

function surfaceOf({ surfaces }: Services, name: SurfaceName): MountedSurface {
  const found = surfaces.find((surface) => surface.operations === contract[name].operations)
  if (found === undefined) throw new Error(`there is no surface ${name}`)
  return found
}

/** Another replica over the datastore of the first. Stop it before the first. */
export function startReplicaOf({ store }: ControlPlane, made: Making): Promise<ControlPlane> {
  return startControlPlane({ ...store, close: async () => undefined }, made)
}

interface Sending {
  readonly as: string
  readonly operation: string
  readonly body: unknown
}

async function send(port: number, { as, operation, body }: Sending): Promise<Answer> {
  const [method = '', path = ''] = operation.split(' ')
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { authorization: `Bearer ${as}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) }
}

function keepIn(rows: AuditEntry[]): AuditQueue {
  return {
    add: (entry) => void rows.push(entry),
    write: async (entry) => void rows.push(entry),
    close: async () => undefined,
  }
}

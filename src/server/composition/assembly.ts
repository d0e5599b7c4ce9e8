import type { Server as HttpServer } from 'node:http'
import type { Logger } from 'pino'
import type { OtlpTracing } from '../adapters/otlp-tracing/otlp-tracing.ts'
import type { Config } from '../config/config.ts'
import type { Address } from '../config/values.ts'
import { createApp, type App } from '../http/app.ts'
import type { AuditQueue } from '../http/audit/audit-queue.ts'
import { httpStatusOf, type Health } from '../ops/health.ts'
import { createOpsServer } from '../ops/ops-listener.ts'
import { createStepUp } from '../slices/domains/step-up-policies.ts'
import type { Backend } from './backend.ts'
import { hostPort, listenFailure, listenOn } from './listen.ts'
import type { Metrics } from './metrics.ts'
import type { FileWatch } from './open-files.ts'
import type { Services } from './services.ts'
import type { TlsMaterial } from './tls-files.ts'

/** The running parts of a server, and those that its end needs. */
export interface Assembly {
  readonly url: string
  readonly app: App
  readonly ops: HttpServer | undefined
  readonly health: Health
  readonly services: Services
  readonly audit: AuditQueue
}

/** What the assembly is made of. */
interface AssemblyParts extends Pick<Assembly, 'health' | 'services' | 'audit' | 'url'> {
  readonly config: Config
  readonly log: Logger
  readonly backend: Backend
  readonly metrics: Metrics | undefined
  readonly tls: TlsMaterial | undefined
  readonly tracing: OtlpTracing | undefined
  readonly fileWatch: FileWatch | undefined
}

/** Builds the edge over the services, and the operations listener where metrics are served. Nothing listens yet. */
export function assemble(parts: AssemblyParts): Assembly {
  const { config, log, backend, services, metrics, tls, health, audit, url } = parts
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
    stepUp: createStepUp({ ...backend, acrByDefault: config.stepUpAcr }),
    observe: prometheus?.observe,
    overload: prometheus?.overload,
    tracing: parts.tracing,
    fileBounds: parts.fileWatch?.bounds,
  })
  services.bindLoopback(app)
  mountHealth(app, health)
  if (metrics !== undefined) Object.assign(metrics, { app, capacity: services.capacity })
  const onError = (error: unknown): void => log.error({ err: error }, 'the operations listener failed')
  const ops = prometheus && createOpsServer({ health, metrics: prometheus, onError })
  return { url, app, ops, health, services, audit }
}

/** The health checks of load balancers, open to everybody and outside the contract (S1 Degradation 1). */
function mountHealth({ fastify }: App, health: Health): void {
  fastify.get('/livez', async (_request, reply) => reply.type('text/plain').send('ok\n'))
  fastify.get('/readyz', async (_request, reply) => {
    const report = await health.report()
    return reply.code(httpStatusOf(report)).header('cache-control', 'no-store').send(report)
  })
}

/** Listens on both addresses. Resolves with the URL of the operations listener. @throws BootError for an address that is in use. */
export async function listen(
  { app, ops }: Assembly,
  { address, config }: { readonly address: Address; readonly config: Config },
): Promise<string | undefined> {
  try {
    await app.listen(address)
  } catch (error) {
    throw listenFailure(error, address, '--listen')
  }
  if (ops === undefined || config.opsListen === undefined) return undefined
  const port = await listenOn(ops, config.opsListen, '--ops-listen')
  return `http://${hostPort({ host: config.opsListen.host, port })}`
}

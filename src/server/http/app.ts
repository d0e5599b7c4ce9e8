import Fastify, { type FastifyInstance } from 'fastify'
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import type { Logger } from 'pino'
import type { Rates } from '../ports/rates.ts'
import type { Authorizer } from '../ports/authorizer.ts'
import type { CapacityLimits } from '../ports/capacity-limits.ts'
import type { Clock, IdSource } from '../ports/clock.ts'
import type { CredentialResolver } from '../ports/credential-resolver.ts'
import type { Keyring } from '../ports/keyring.ts'
import type { Tracing } from '../ports/tracing.ts'
import type { UnitOfWork } from '../ports/unit-of-work.ts'
import type { UsageMeter } from '../ports/usage-meter.ts'
import { apiVersionsOf } from './api-version.ts'
import { createAnswers } from './answers.ts'
import type { AuditQueue } from './audit/audit-queue.ts'
import { createAuditTrail } from './audit/audit-trail.ts'
import { createAuthenticate, type StaleTimes } from './auth/authenticate.ts'
import type { StepUp } from './auth/step-up.ts'
import { createGatekeeper } from './auth/authorize.ts'
import { createClientAddress, createIsSecure } from './client-address.ts'
import type { CsrfTokens } from './auth/csrf.ts'
import {
  answerMalformedRequest,
  refuseAmbiguous,
  refuseConnection,
  answerConnectAndExpect,
  type RefusalDeps,
} from './malformed-requests.ts'
import { createCursors } from './cursors.ts'
import { isAmbiguous } from './limits/ambiguous-request.ts'
import { createBodyBudget } from './limits/body-budget.ts'
import { capConnections } from './limits/connection-cap.ts'
import { createCallerQueues } from './limits/caller-queues.ts'
import { watchEventLoopLag, type EventLoopLag } from './limits/event-loop-lag.ts'
import { createIngestLimit } from './limits/ingest-limit.ts'
import { createLoad } from './limits/load.ts'
import { createReadGate, type ReadGate } from './limits/read-gate.ts'
import { createLookUpLimiter } from './limits/lookup-limiter.ts'
import { NO_OVERLOAD_METER, type OverloadMeter } from './limits/overload-meter.ts'
import { createDrain } from './limits/drain.ts'
import { createOpenFiles, type FileBounds, type OpenFilesState } from './limits/open-files.ts'
import { createOpenStreams } from './open-streams.ts'
import { mountOperations, type MountDeps } from './mount.ts'
import { pathsOf, planOperations } from './plan-operations.ts'
import { mountPages } from './pages/mount-pages.ts'
import type { ForeignRoutes, Page } from './pages/pages.ts'
import { parseQueryString } from './query-string.ts'
import type { HoldingPorts } from './held/find-hold.ts'
import { createLimit, createRateLimits, NO_LIMIT } from './limits/rate-limits.ts'
import type { MountedSurface } from './request-context.ts'
import { answerUnrouted } from './unrouted.ts'

export interface AppDeps {
  readonly surfaces: readonly MountedSurface[]
  /** In the order in which they are tried. */
  readonly resolvers: readonly CredentialResolver[]
  /** Without it gated operations answer 501. */
  readonly authorizer: Authorizer | undefined
  readonly unitOfWork: UnitOfWork | undefined
  /** Nothing is held for approval without. */
  readonly holding?: HoldingPorts | undefined
  readonly audit: AuditQueue
  readonly keyring: Keyring
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Logger
  /** Networks whose `X-Forwarded-For` counts. */
  readonly trustedProxies: readonly string[]
  /** Origins that cookie-authenticated changes may come from, the server's own included. */
  readonly allowedOrigins: readonly string[]
  /** The server's own origin; unknown when absent. */
  readonly ownOrigin?: string | undefined
  /** Anti-forgery tokens of sessions. */
  readonly csrfTokens?: CsrfTokens | undefined
  /** Pages for people, beside the operations; none by default. */
  readonly pages?: readonly Page[] | undefined
  /** Paths that other libraries serve by themselves; none by default. */
  readonly foreignRoutes?: readonly ForeignRoutes[] | undefined
  /** What stronger sign-ins operations may ask for; none by default. */
  readonly stepUp?: StepUp | undefined
  /** How old a credential in memory may be during an outage; none is used by default. */
  readonly staleTimes?: StaleTimes | undefined
  /** How often callers may call; no limits when absent. */
  readonly rates?: Rates | undefined
  /** Counts what the nodes of Domains report; nobody by default. */
  readonly usage?: UsageMeter | undefined
  /** How much they may report; without it nothing is refused for that. */
  readonly capacityLimits?: CapacityLimits | undefined
  /** PEM certificate and key; plain HTTP when absent. */
  readonly tls?: SecureContextOptions | undefined
  /** Called with every answer, for metrics. */
  readonly observe?: ((operationId: string, status: number, seconds: number) => void) | undefined
  /** Called with every refusal due to overload, for metrics. */
  readonly overload?: OverloadMeter | undefined
  /** Records requests and what they do; not recorded when absent. */
  readonly tracing?: Tracing | undefined
  /** 15 s, 30 s and 5 s by default. */
  readonly arrivalTimes?: ArrivalTimes | undefined
  /** Watches the event loop; a watch of its own by default. */
  readonly lag?: EventLoopLag | undefined
  /** Requests under way at once; 16,384 by default. */
  readonly requestsMax?: number | undefined
  /** The open files that connections of clients share with the server; no limit is known when absent. */
  readonly fileBounds?: FileBounds | undefined
}

/** The API as a listener. */
export interface App {
  readonly fastify: FastifyInstance
  readonly server: Server
  /** Its load. */
  load(): { readonly running: number; readonly lagSeconds: number; readonly files: OpenFilesState | undefined }
  /** Resolves with the port. */
  listen(address: { readonly host: string; readonly port: number }): Promise<number>
  /** Stops accepting, ends streams, waits for running requests for the given time, answers new requests with 503, and closes. */
  drain(deadlineMs: number): Promise<void>
}

/** How long a request may take to arrive, ms; checked every `connectionsCheckingInterval`. */
export interface ArrivalTimes {
  readonly headersTimeout: number
  /** With its body. */
  readonly requestTimeout: number
  readonly connectionsCheckingInterval: number
}

/** Bytes of one request's headers, and how long a request may take to arrive. */
const LIMITS = {
  requireHostHeader: false,
  maxHeaderSize: 16 * 1024,
  headersTimeout: 15_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 72_000,
  connectionsCheckingInterval: 5_000,
} as const

const IDLE_SWEEP_MS = 50

/** Bound of a body that is sent to a route outside the operations. */
const OTHER_BODY_BYTES_MAX = 8 * 1024

/**
 * Builds the HTTP edge over the surfaces.
 *
 * @throws Error when the contract contradicts itself; deprecation markers with the prefix `api deprecations:`.
 */
export function createApp(deps: AppDeps): App {
  const { ids, lag = watchEventLoopLag(), overload: meter = NO_OVERLOAD_METER, requestsMax } = deps
  const refusals: RefusalDeps = { mint: () => ids.next(), versions: apiVersionsOf(pathsOf(deps.surfaces)) }
  const drain = createDrain()
  const trail = createAuditTrail(deps)
  const streams = createOpenStreams()
  const bodies = createBodyBudget(meter)
  const openFiles = createOpenFiles({ bounds: deps.fileBounds, meter, onChange: fileReporter(deps.log) })
  const answers = createAnswers({ ...deps, ...refusals, trail, drain, streams, openFiles, bodies })
  const fastify = Fastify({
    logger: false,
    exposeHeadRoutes: false,
    bodyLimit: OTHER_BODY_BYTES_MAX,
    // The operation refuses a path member that is too long, like any other invalid member.
    routerOptions: { maxParamLength: LIMITS.maxHeaderSize, querystringParser: parseQueryString },
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    serverFactory: (serve) => {
      const server =
        deps.tls === undefined
          ? createHttpServer({ ...LIMITS, ...deps.arrivalTimes })
          : createHttpsServer({ ...LIMITS, ...deps.arrivalTimes, ...deps.tls })
      openFiles.follow(server)
      return server.on('request', listenerOver(serve, { ...refusals, meter, gate: createReadGate(server) }))
    },
    // Answers of the same turn are sent first: their requests may have arrived before the malformed bytes.
    clientErrorHandler: (error, socket) => void setImmediate(answerMalformedRequest, error, socket, refusals),
    frameworkErrors: (error, request, reply) => answers.turnAway({ request, reply }, error),
  })
  const load = createLoad({ drain, lag, meter, requestsMax })
  routeAll(fastify, { ...deps, ...refusals, drain, answers, load, openFiles, bodies })
  answerConnectAndExpect(fastify.server, refusals)
  fastify.addHook('onClose', () => {
    lag.stop()
    openFiles.stop()
    trail.flush()
  })
  const closeSilent = trackSilent(fastify.server)

  return {
    fastify,
    server: fastify.server,
    load: () => ({ running: drain.running(), lagSeconds: lag.seconds(), files: openFiles.state() }),
    async listen({ host, port }) {
      await openFiles.start()
      await fastify.listen({ host, port })
      const address = fastify.server.address()
      if (address === null || typeof address === 'string') throw new Error('the server listens on no port')
      return address.port
    },
    async drain(deadlineMs) {
      drain.begin()
      streams.drain()
      // A connection whose answer is still on its way when the closing begins is idle only later.
      const sweep = setInterval(() => fastify.server.closeIdleConnections(), IDLE_SWEEP_MS)
      closeSilent()
      const cut = setTimeout(() => fastify.server.closeAllConnections(), deadlineMs)
      try {
        // A handler may continue although its client has disconnected.
        await Promise.all([fastify.close(), drain.settled(deadlineMs)])
      } finally {
        clearInterval(sweep)
        clearTimeout(cut)
      }
    },
  }
}

/** Steps of every request before it is routed. */
function listenerOver(
  serve: RequestListener,
  { meter, gate, ...refusals }: RefusalDeps & { readonly meter: OverloadMeter; readonly gate: ReadGate },
): RequestListener {
  const capped = capConnections({
    serve,
    gate,
    refuse(socket, request) {
      meter.refused('connection')
      refuseConnection(socket, request, refusals)
    },
  })
  return (request, response) => {
    gate.passed()
    if (isAmbiguous(request)) refuseAmbiguous(request, response, refusals)
    else capped(request, response)
  }
}

/** Mounts the operations, the pages beside them, and an answer to everything else. */
function routeAll(
  fastify: FastifyInstance,
  deps: AppDeps & RefusalDeps & Pick<MountDeps, 'drain' | 'answers' | 'load' | 'openFiles' | 'bodies'>,
): void {
  const { pages = [], foreignRoutes = [] } = deps
  const plans = planOperations(deps.surfaces)
  const failures = createLimit('failedCredentials', deps.rates?.failedCredentials ?? NO_LIMIT)
  const lookUps = createLookUpLimiter({ failures, clock: deps.clock, meter: deps.overload ?? NO_OVERLOAD_METER })
  const arrivals = {
    ...deps,
    authenticate: createAuthenticate({ ...deps, lookUps }),
    clientAddress: createClientAddress(deps.trustedProxies),
    isSecure: createIsSecure(deps.trustedProxies),
    allowedOrigins: { own: deps.ownOrigin, all: new Set(deps.allowedOrigins) },
    rateLimits: deps.rates && createRateLimits(deps.rates),
  }
  mountOperations(fastify, plans, {
    ...arrivals,
    callerQueues: createCallerQueues(deps.load),
    ingest: createIngestLimit(deps),
    gatekeeper: createGatekeeper(deps.authorizer),
    cursors: createCursors(deps.keyring),
  })
  mountPages(fastify, { ...arrivals, pages, foreignRoutes })
  answerUnrouted(fastify, { plans, pages }, arrivals)
}

/** Logs when event streams begin to be refused for want of open files, and when they are accepted again. */
function fileReporter(log: Logger): (state: OpenFilesState) => void {
  return ({ open, max, streamsMax, refusesSince }) => {
    const counts = { open, max, streams_max: streamsMax }
    if (refusesSince === undefined) log.info(counts, 'event streams are accepted again')
    else log.warn(counts, 'new event streams are refused: too many files are open; raise the limit or add replicas')
  }
}

/** Closes connections that never sent a request: Node's server treats them as busy. */
function trackSilent(server: Server): () => void {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return () => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
  }
}

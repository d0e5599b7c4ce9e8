import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { problem, type Problem } from '../../shared/problems.ts'
import type { Caller } from '../ports/credential-resolver.ts'
import type { Clock } from '../ports/clock.ts'
import { API_VERSION } from './api-version.ts'
import { ActiveRequest, type RequestServices } from './active-request.ts'
import type { Authenticate } from './authenticate.ts'
import { createAuditTrail, type AuditTrail } from './audit-trail.ts'
import type { AuditQueue } from './audit-queue.ts'
import { decodeBody, parseBody, type BodyMedia } from './body.ts'
import type { ClientAddress } from './client-address.ts'
import { correlationIdOf } from './correlation.ts'
import type { Drain } from './drain.ts'
import type { OperationPlan } from './operation-plan.ts'
import { isOriginAllowed } from './origins.ts'
import { parseParameters } from './parameters.ts'
import { answerTo, sendProblem } from './problem-responses.ts'

export interface MountDeps extends RequestServices {
  readonly authenticate: Authenticate
  readonly audit: AuditQueue
  readonly clock: Clock
  readonly drain: Drain
  readonly mint: () => string
  readonly clientAddress: ClientAddress
  readonly allowedOrigins: ReadonlySet<string>
  readonly observe?: ((operationId: string, status: number, seconds: number) => void) | undefined
  readonly log: Logger
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What the edge keeps of a request; set by the first hook of every operation's route. */
    active: ActiveRequest | undefined
  }
}

type Done = (error?: Error) => void

/** Mounts one route per operation, with the request lifecycle of docs/architecture.md in its order. */
export function mountOperations(fastify: FastifyInstance, plans: readonly OperationPlan[], deps: MountDeps): void {
  const trail = createAuditTrail(deps)
  fastify.decorateRequest('active', undefined)
  acceptBodies(fastify)
  fastify.setErrorHandler((error, request, reply) => {
    fail({ request, reply, error }, { deps, trail })
  })
  for (const plan of plans) mountOne(fastify, plan, { deps, trail })
  fastify.addHook('onClose', () => trail.flush())
}

/** A body as it arrived, within its cap. */
interface RawBody {
  readonly bytes: Buffer
  readonly media: BodyMedia
}

/** Reads bodies as bytes: decoding is left to the operation, so that bad JSON does not cost the connection. */
function acceptBodies(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers()
  for (const media of [
    'application/json',
    'application/x-www-form-urlencoded',
  ] as const satisfies readonly BodyMedia[]) {
    fastify.addContentTypeParser(media, { parseAs: 'buffer' }, (_request: FastifyRequest, bytes: Buffer, done) => {
      done(null, { bytes, media } satisfies RawBody)
    })
  }
}

/** Decodes what arrived; nothing sent reads as an empty object. */
function decode({ operation }: OperationPlan, raw: unknown): unknown {
  if (operation.body === undefined || raw === undefined || raw === null) return {}
  // Only the parsers above make bodies.
  const { bytes, media } = raw as RawBody
  const taken: readonly BodyMedia[] = operation.bodyMedia ?? ['application/json']
  if (!taken.includes(media)) throw problem('unsupported_media_type')
  return decodeBody(bytes, media)
}

interface Edge {
  readonly deps: MountDeps
  readonly trail: AuditTrail
}

function mountOne(fastify: FastifyInstance, plan: OperationPlan, edge: Edge): void {
  fastify.route({
    method: plan.operation.method,
    url: plan.operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    bodyLimit: plan.bodyBytesMax,
    onRequest: (request, reply, done) => arrive(plan, { request, reply, done }, edge.deps),
    handler: (request, reply) => {
      const { active } = request
      if (active === undefined) throw new Error(`${plan.id} was reached without its first hook`)
      serve({ active, request, reply }, edge)
      return reply
    },
    onResponse: (request, reply, done) => {
      const { drain, observe, clock, log } = edge.deps
      const { active } = request
      if (active !== undefined) {
        drain.left()
        observe?.(plan.id, reply.statusCode, reply.elapsedTime / 1000)
        if (log.isLevelEnabled('debug'))
          logRequest(log, active, { status: reply.statusCode, ms: clock.now() - active.nowMs })
      }
      done()
    },
  })
}

interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** An exchange with what the edge keeps of it. */
interface Admitted extends Exchange {
  readonly active: ActiveRequest
}

/** Everything that headers, path and query can decide, before a byte of the body is read. */
function arrive(
  plan: OperationPlan,
  { request, reply, done }: Exchange & { readonly done: Done },
  deps: MountDeps,
): void {
  const active = activate(plan, { request, reply }, deps)
  const proceed = (): void => done()
  const refuse = (error: unknown): void => done(error instanceof Error ? error : new Error(String(error)))
  try {
    if (deps.drain.draining()) {
      void reply.header('Connection', 'close')
      throw problem('shutting_down', { retry_after_seconds: 1 })
    }
    const caller = deps.authenticate(plan, { headers: request.headers, correlationId: active.correlationId })
    const exchange = { active, request, reply }
    const admitted =
      caller instanceof Promise ? caller.then((known) => admit(exchange, known, deps)) : admit(exchange, caller, deps)
    if (admitted instanceof Promise) void admitted.then(proceed, refuse)
    else done()
  } catch (error) {
    refuse(error)
  }
}

/** Begins the edge's record of a request and sets the headers that every answer has. */
function activate(plan: OperationPlan, { request, reply }: Exchange, deps: MountDeps): ActiveRequest {
  const correlationId = correlationIdOf(request.headers, deps.mint)
  void reply.header('X-Correlation-Id', correlationId).header('X-Service-API-Version', API_VERSION)
  if (plan.deprecation) {
    void reply.header('Deprecation', plan.deprecation.deprecation)
    if (plan.deprecation.sunset !== undefined) void reply.header('Sunset', plan.deprecation.sunset)
  }
  const forwarded = request.headers['x-forwarded-for']
  const forwardedFor = typeof forwarded === 'string' ? forwarded : undefined
  const sourceAddress = deps.clientAddress(request.socket.remoteAddress, forwardedFor)
  const active = new ActiveRequest(deps, { plan, correlationId, sourceAddress, nowMs: deps.clock.now() }, reply)
  request.active = active
  deps.drain.entered()
  return active
}

function admit({ active, request }: Admitted, caller: Caller | undefined, deps: MountDeps): void | Promise<void> {
  const { plan } = active
  if (caller !== undefined) active.identify(caller)
  if (plan.handler === undefined) throw problem(plan.operation.notProvisioned ?? 'not_provisioned')
  active.take(parseParameters(plan, request))
  if (caller === undefined) return undefined
  const sources = active.sources()
  deps.gatekeeper.checkScope(plan, caller, sources)
  deps.gatekeeper.checkOwnNode(plan, caller, active.path)
  const gate = plan.gateStage === 'request' ? deps.gatekeeper.passGate(plan, active.asker(), sources) : undefined
  return gate instanceof Promise
    ? gate.then(() => checkOrigin(active, request, deps))
    : checkOrigin(active, request, deps)
}

function checkOrigin(
  { plan, knownCaller }: ActiveRequest,
  { headers }: FastifyRequest,
  { allowedOrigins }: MountDeps,
): void {
  if (knownCaller?.credential.kind !== 'session' || plan.operation.method === 'GET') return
  const fetchSite = headers['sec-fetch-site']
  const from = { origin: headers.origin, fetchSite: typeof fetchSite === 'string' ? fetchSite : undefined }
  if (!isOriginAllowed(from, allowedOrigins)) throw problem('origin_not_allowed')
}

/** Parses the body, runs the gates that need it, then the handler, and answers. Stays synchronous as long as each step does. */
function serve(exchange: Admitted, edge: Edge): void {
  const giveUp = (error: unknown): void => fail({ ...exchange, error }, edge)
  try {
    const result = operate(exchange, edge.deps)
    if (result instanceof Promise) void result.then((value) => succeed(exchange, value, edge)).catch(giveUp)
    else succeed(exchange, result, edge)
  } catch (error) {
    giveUp(error)
  }
}

function operate({ active, request }: Admitted, { gatekeeper }: MountDeps): unknown {
  const { plan } = active
  const body = parseBody(plan, decode(plan, request.body))
  // A body schema is of an object or a union of objects: nothing else can be refused member by member.
  if (body !== undefined) active.body = body as Readonly<Record<string, unknown>>
  const input = body === undefined ? { ...active.path, ...active.query } : { ...active.path, ...active.query, body }
  // Handlers are typed by their contract entry, and the input was parsed by the same entry.
  const handle = (): unknown => plan.handler?.(active, input as never)
  if (plan.gateStage !== 'body' || active.knownCaller === undefined) return handle()
  const gate = gatekeeper.passGate(plan, active.asker(), active.sources())
  return gate instanceof Promise ? gate.then(handle) : handle()
}

function succeed({ active, reply }: Admitted, value: unknown, { trail }: Edge): void {
  const { plan } = active
  if (plan.gateStage === 'row' && !active.admitted) throw new Error(`${plan.id} answered without asking its gate`)
  trail.succeeded(active)
  void reply.code(plan.successStatus)
  const { successShape: shape } = plan
  if (shape === null) void reply.send()
  else if ('media' in shape) void reply.type(shape.media).send(value)
  else void reply.type('application/json; charset=utf-8').send(JSON.stringify(value))
}

/** Answers a failure: the audit row of a denial is written first, then the problem, then the log line. */
function fail({ request, reply, error }: Exchange & { readonly error: unknown }, { deps, trail }: Edge): void {
  const { mint, log } = deps
  const { active } = request
  const correlationId = active?.correlationId ?? correlationIdOf(request.headers, mint)
  const answer = answerTo(error, active?.plan.overCap ?? 'request_body_too_large')
  logFailure(log, { error, answer, correlationId, operation: active?.plan.id })
  const written = active && trail.failed(active, error, answer)
  if (written) void written.then(() => sendProblem(reply, answer, correlationId))
  else sendProblem(reply, answer, correlationId)
}

interface Failure {
  readonly error: unknown
  readonly answer: Problem
  readonly correlationId: string
  readonly operation: string | undefined
}

function logFailure(log: Logger, { error, answer, correlationId, operation }: Failure): void {
  const line = { correlation_id: correlationId, operation, status: answer.status, code: answer.code }
  if (answer.status >= 500) log.error({ ...line, err: error }, 'request failed')
  else if (log.isLevelEnabled('info')) log.info({ ...line, cause: causeOf(error) }, 'request refused')
}

function causeOf(error: unknown): string | undefined {
  const inner = error instanceof Error ? (error.cause ?? error) : error
  return inner instanceof Error ? inner.message : undefined
}

function logRequest(
  log: Logger,
  { plan, correlationId, knownCaller, sourceAddress }: ActiveRequest,
  outcome: { status: number; ms: number },
): void {
  log.debug(
    {
      correlation_id: correlationId,
      operation: plan.id,
      subject: knownCaller?.subject,
      address: sourceAddress,
      ...outcome,
    },
    'request',
  )
}

import type { FastifyRequest } from 'fastify'
import { COUNTED_BODY_BYTES } from '../../shared/contract/problem-codes.ts'
import { problem } from '../../shared/problems.ts'
import type { Caller } from '../ports/credential-resolver.ts'
import type { Tracing } from '../ports/tracing.ts'
import { API_VERSION_HEADER } from './api-version.ts'
import { ActiveRequest, type Admission, type RequestServices } from './active-request.ts'
import type { Answers, Exchange } from './answers.ts'
import { forwardedAddress, type ClientAddress, type IsSecure } from './client-address.ts'
import { assertDoubleSubmit, type CsrfTokens } from './auth/csrf.ts'
import { correlationIdOf } from './correlation.ts'
import type { Drain } from './limits/drain.ts'
import type { OperationPlan } from './operation-plan.ts'
import type { BodyBudget } from './limits/body-budget.ts'
import type { Load } from './limits/load.ts'
import type { OpenFiles } from './limits/open-files.ts'
import { isOriginAllowed, type AllowedOrigins } from './auth/origins.ts'
import { parseParameters } from './parameters.ts'
import type { RateLimits } from './limits/rate-limits.ts'
import { beginSpan } from './request-spans.ts'
import { assertSteppedUp, type StepUp } from './auth/step-up.ts'
import { marksOf, traceParentOf } from './trace-context.ts'

export interface ArrivalDeps extends RequestServices {
  readonly drain: Drain
  readonly mint: () => string
  readonly clientAddress: ClientAddress
  readonly isSecure: IsSecure
  /** Anti-forgery tokens of sessions; without them, requests that need one are refused. */
  readonly csrfTokens?: CsrfTokens | undefined
  readonly allowedOrigins: AllowedOrigins
  readonly stepUp?: StepUp | undefined
  readonly rateLimits?: RateLimits | undefined
  readonly answers: Pick<Answers, 'abandon'>
  readonly load: Load
  readonly openFiles: Pick<OpenFiles, 'assertRoomForStream'>
  readonly bodies: BodyBudget
  /** Records requests; absent where nobody collects them. */
  readonly tracing?: Tracing | undefined
}

type Done = (error?: Error) => void

/**
 * The steps that need only headers, path and query, before a byte of the body is read: headers of every answer,
 * credential, parameters, scope and gate, origin. Stays synchronous as long as each step does.
 */
export function arrive(plan: OperationPlan, exchange: Exchange & { readonly done: Done }, deps: ArrivalDeps): void {
  const { request, done } = exchange
  const active = activate(plan, exchange, deps)
  const refuse = (error: unknown): void => {
    done(error instanceof Error ? error : new Error(String(error)))
  }
  const proceed = (): void => {
    // The framework would wait forever for a body that can no longer be read.
    if (request.raw.destroyed && !request.raw.readableEnded) return deps.answers.abandon(active)
    try {
      if (plan.bodyBytesMax > COUNTED_BODY_BYTES) reserveBody(active, request, deps.bodies)
    } catch (error) {
      return refuse(error)
    }
    done()
  }
  try {
    assertServable(plan, exchange, deps)
    deps.rateLimits?.takeAddress(plan, active.sourceAddress, active.nowMs)
    const caller = deps.authenticate(plan, {
      headers: request.headers,
      correlationId: active.correlationId,
      trace: active.trace,
      from: { sourceAddress: active.sourceAddress, socket: request.raw.socket },
    })
    const admitted =
      caller instanceof Promise
        ? caller.then((known) => admit(active, request, { caller: known, deps }))
        : admit(active, request, { caller, deps })
    if (admitted instanceof Promise) void admitted.then(proceed, refuse)
    else proceed()
  } catch (error) {
    refuse(error)
  }
}

/** Creates the edge's record of a request and sets the headers that every answer has. */
function activate(plan: OperationPlan, { request, reply }: Exchange, deps: ArrivalDeps): ActiveRequest {
  const correlationId = correlationIdOf(request.headers, deps.mint)
  void reply.header('X-Correlation-Id', correlationId).header(API_VERSION_HEADER, plan.apiVersion)
  if (plan.noStore) void reply.header('Cache-Control', 'no-store')
  if (plan.deprecation) {
    void reply.header('Deprecation', plan.deprecation.deprecation)
    if (plan.deprecation.sunset !== undefined) void reply.header('Sunset', plan.deprecation.sunset)
  }
  const admission = { plan, correlationId, ...originOf(request, deps), nowMs: deps.clock.now() }
  const active = new ActiveRequest(deps, admission, reply)
  joinTrace(active, request, deps.tracing)
  request.active = active
  deps.drain.entered()
  return active
}

/** The client address of a request; forwarding headers count only from a trusted proxy. */
function originOf(request: FastifyRequest, deps: ArrivalDeps): Pick<Admission, 'sourceAddress' | 'isSecure'> {
  const { headers, socket } = request
  const proto = textOf(headers['x-forwarded-proto'])
  return {
    sourceAddress: forwardedAddress(deps.clientAddress, request),
    isSecure: deps.isSecure(socket.remoteAddress, 'encrypted' in socket, proto),
  }
}

/** Makes the request part of its caller's trace, and records it where requests are recorded. */
function joinTrace(active: ActiveRequest, request: FastifyRequest, tracing: Tracing | undefined): void {
  const parent = traceParentOf(request.headers)
  if (tracing !== undefined) {
    const { correlationId, isSecure, plan, sourceAddress } = active
    const { id: name, operation } = plan
    const spanned = { name, route: operation.path, correlationId, sourceAddress, isSecure, parent }
    active.span = beginSpan(tracing, request, spanned)
  }
  active.trace = active.span?.marks ?? marksOf(parent)
}

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined
}

function assertServable({ success }: OperationPlan, { request }: Exchange, deps: ArrivalDeps): void {
  if (deps.drain.draining()) throw problem('shutting_down', { retry_after_seconds: 1 })
  deps.load.assertRoom()
  if (success.streams) deps.openFiles.assertRoomForStream()
  // RFC 9112 §3.2; left to the edge so that the answer is a problem document.
  if (request.headers.host === undefined && request.raw.httpVersion === '1.1') throw problem('invalid_request')
}

/**
 * Reserves the body's declared length before its first byte is read, or the cap where the request declares
 * none. Released with the answer. The cap refuses bodies that are too large.
 */
function reserveBody(active: ActiveRequest, { headers }: FastifyRequest, bodies: BodyBudget): void {
  const { bodyBytesMax } = active.plan
  const said = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : bodyBytesMax
  if (said <= COUNTED_BODY_BYTES || said > bodyBytesMax) return
  bodies.reserve(active.shareOwner, said)
  active.bodyBytes = said
}

interface Known {
  readonly caller: Caller | undefined
  readonly deps: ArrivalDeps
}

function admit(active: ActiveRequest, request: FastifyRequest, { caller, deps }: Known): void | Promise<void> {
  const { plan } = active
  if (caller !== undefined) {
    active.identify(caller)
    deps.rateLimits?.take(plan, caller, active.nowMs)
  }
  const steppedUp = assertSteppedUp(plan, caller, deps.stepUp)
  return steppedUp instanceof Promise
    ? steppedUp.then(() => passGates(active, request, { caller, deps }))
    : passGates(active, request, { caller, deps })
}

function passGates(active: ActiveRequest, request: FastifyRequest, { caller, deps }: Known): void | Promise<void> {
  const { plan } = active
  if (plan.handler === undefined) throw problem(plan.operation.notProvisioned ?? 'not_provisioned')
  active.take(parseParameters(plan, request))
  if (caller === undefined) return undefined
  const sources = active.sources()
  deps.gatekeeper.checkScope(plan, caller, sources)
  deps.gatekeeper.checkOwnNode(plan, caller, active.path)
  const gate = active.passGate('request')
  return gate instanceof Promise
    ? gate.then(() => checkOrigin(active, request, deps))
    : checkOrigin(active, request, deps)
}

function checkOrigin(
  { plan, knownCaller }: ActiveRequest,
  { headers }: FastifyRequest,
  { allowedOrigins, csrfTokens }: ArrivalDeps,
): void {
  if (knownCaller?.credential.kind !== 'session' || plan.operation.method === 'GET') return
  const from = { origin: headers.origin, fetchSite: textOf(headers['sec-fetch-site']) }
  if (!isOriginAllowed(from, allowedOrigins)) throw problem('origin_not_allowed')
  if (plan.operation.doubleSubmit === true) assertDoubleSubmit(knownCaller.credential.id, headers, csrfTokens)
}

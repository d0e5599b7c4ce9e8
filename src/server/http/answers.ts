import type { FastifyReply, FastifyRequest } from 'fastify'
import type { OutgoingHttpHeaders } from 'node:http'
import type { Logger } from 'pino'
import type { StreamAnswer } from '../../shared/contract/operation.ts'
import type { Rendered } from '../../shared/contract/operation-types.ts'
import { problem, type Problem, type ProblemCode } from '../../shared/problems.ts'
import type { Clock } from '../ports/clock.ts'
import type { TraceMarks } from '../ports/tracing.ts'
import { API_VERSION_HEADER, type ApiVersions } from './api-version.ts'
import type { ActiveRequest } from './active-request.ts'
import { isNavigation, prefersHtml } from './browser-facts.ts'
import { oauthErrorMedia, withOauthError } from './oauth-error.ts'
import type { AuditTrail } from './audit/audit-trail.ts'
import { correlationIdOf } from './correlation.ts'
import { createResponseBatcher } from './response-batcher.ts'
import type { Drain } from './limits/drain.ts'
import type { BodyBudget } from './limits/body-budget.ts'
import type { OpenFiles } from './limits/open-files.ts'
import type { OpenStreams, StreamHead } from './open-streams.ts'
import { PAGE_HEADERS, sendFailurePage } from './pages/page-responses.ts'
import { answerTo, sendProblem } from './problem-responses.ts'
import { RateLimited } from './limits/rate-limits.ts'
import { sendRendered } from './send-rendered.ts'
import { endSpan } from './request-spans.ts'
import { logMarks, marksOf, traceParentOf } from './trace-context.ts'

export interface AnswersDeps {
  readonly trail: AuditTrail
  readonly drain: Drain
  readonly streams: OpenStreams
  readonly openFiles: Pick<OpenFiles, 'isScarce'>
  readonly bodies: BodyBudget
  readonly clock: Clock
  readonly log: Logger
  readonly mint: () => string
  readonly versions: ApiVersions
  /** Called with every answer of an operation, for metrics. */
  readonly observe?: ((operationId: string, status: number, seconds: number) => void) | undefined
}

/** A request and its answer, as the framework has them. */
export interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** The last step of every request: audit row, answer, log line. */
export interface Answers {
  /** Answers with what the handler returned. */
  succeed(active: ActiveRequest, reply: FastifyReply, value: unknown): void
  /** Answers a failure: the audit row of a denial is written first, then the problem is sent. */
  fail(exchange: Exchange, error: unknown): void
  /** Ends a request whose client has gone before it was answered, without a change: nothing was done, so nothing is audited. */
  abandon(active: ActiveRequest): void
  /** Answers what reached no operation; the correlation id is the request's own, or a new one, unless one is given. */
  turnAway(exchange: Exchange, error: unknown, correlationId?: string): void
  /** The same for an address that a person may have gone to: browsers that navigate get a page. */
  turnVisitorAway(exchange: Exchange, error: unknown, correlationId?: string): void
}

/** What metrics and the log say of a request whose connection was closed before it was answered; no code of HTTP. */
const CLIENT_CLOSED = 499

/** Makes the answers. */
export function createAnswers(deps: AnswersDeps): Answers {
  const { trail, drain, streams, openFiles, bodies, clock, log, mint, versions, observe } = deps
  const depart = createResponseBatcher()

  /** Ends the edge's part of a request; Node's server sends the bytes from here on. */
  function conclude(active: ActiveRequest, status: number, code?: ProblemCode): void {
    if (active.concluded) return
    active.concluded = true
    drain.left()
    if (active.bodyBytes > 0) bodies.release(active.shareOwner, active.bodyBytes)
    observe?.(active.plan.id, status, (performance.now() - active.startedAt) / 1000)
    if (active.span !== undefined) endSpan(active.span, { status, code, path: active.spannedPath() })
    if (log.isLevelEnabled('debug')) log.debug(requestLine(active, status, clock.now() - active.nowMs), 'request')
  }

  /**
   * Closes the connection after this answer when the server stops: the client's next request reaches another replica. Likewise
   * when open files are scarce: the calls of many nodes share what is left.
   */
  function closeWhereNeeded(reply: FastifyReply): void {
    if (drain.draining() || openFiles.isScarce()) void reply.header('Connection', 'close')
  }

  function refuse(active: ActiveRequest, reply: FastifyReply, answer: Problem): void {
    closeWhereNeeded(reply)
    const { htmlFailure, oauthErrors } = active.plan.operation
    if (htmlFailure !== undefined && prefersHtml(reply.request.headers.accept)) {
      const query = new URLSearchParams({ problem: answer.code, correlation_id: active.correlationId })
      void reply
        .code(303)
        .header('Cache-Control', 'no-store')
        .header('Location', `${htmlFailure}?${query.toString()}`)
        .send()
      return conclude(active, 303, answer.code)
    }
    if (answer instanceof RateLimited) void reply.headers(answer.headers)
    if (oauthErrors === true) void reply.header('Content-Type', oauthErrorMedia(reply.request.headers.accept))
    const { correlationId, plan } = active
    sendProblem(reply, oauthErrors === true ? withOauthError(answer) : answer, {
      correlationId,
      operation: plan.operation,
    })
    conclude(active, answer.status, answer.code)
  }

  /** Logs what reached no operation, and says what the answer to it is. */
  function turned({ request, reply }: Exchange, error: unknown, correlationId: string): Problem {
    const answer = answerTo(error, { overCap: 'request_body_too_large', outage: 'internal' })
    const trace = marksOf(traceParentOf(request.headers))
    logFailure(log, { error, answer, correlationId, trace, operation: undefined })
    void reply.header('X-Correlation-Id', correlationId).header(API_VERSION_HEADER, versions.headerFor(request.url))
    if (answer instanceof RateLimited) void reply.headers(answer.headers)
    closeWhereNeeded(reply)
    return answer
  }

  function turnAway(
    exchange: Exchange,
    error: unknown,
    correlationId = correlationIdOf(exchange.request.headers, mint),
  ): void {
    sendProblem(exchange.reply, turned(exchange, error, correlationId), { correlationId })
  }

  function turnVisitorAway(
    exchange: Exchange,
    error: unknown,
    correlationId = correlationIdOf(exchange.request.headers, mint),
  ): void {
    const { request, reply } = exchange
    if (!isNavigation(request)) return turnAway(exchange, error, correlationId)
    const answer = turned(exchange, error, correlationId)
    sendFailurePage(reply.headers(PAGE_HEADERS), answer, correlationId)
  }

  function fail(exchange: Exchange, error: unknown): void {
    const { active } = exchange.request
    if (active === undefined) return turnAway(exchange, error)
    const answer = answerTo(error, active.plan)
    const { correlationId, trace, plan } = active
    logFailure(log, { error, answer, correlationId, trace, operation: plan.id })
    const written = trail.failed(active, error, answer)
    if (written) void written.then(() => refuse(active, exchange.reply, answer))
    else refuse(active, exchange.reply, answer)
  }

  /** Sends what the handler returned, as the operation's success. */
  function send(active: ActiveRequest, reply: FastifyReply, payload: unknown): void {
    try {
      void reply.send(payload)
      conclude(active, active.success.status)
    } catch (error) {
      fail({ request: reply.request, reply }, error)
    }
  }

  /** The framework would join the pieces, or turn them into a stream. */
  function sendPieces(active: ActiveRequest, reply: FastifyReply, rendered: Rendered): void {
    const { status, media } = active.success
    reply.hijack()
    depart(() => {
      sendRendered({ ...headOf(reply, media), status }, rendered)
      conclude(active, status)
    })
  }

  /** The request ends with the head of its answer: a shutdown does not wait for streams, it ends them. */
  function goOn(active: ActiveRequest, reply: FastifyReply, stream: StreamAnswer): void {
    if (drain.draining()) {
      stream.ended('drain')
      throw problem('shutting_down', { retry_after_seconds: 1 })
    }
    trail.succeeded(active)
    const { status, media } = active.success
    reply.hijack()
    conclude(active, status)
    streams.open({ ...headOf(reply, media), status }, stream)
  }

  return {
    fail,
    abandon: (active) => conclude(active, CLIENT_CLOSED),
    turnAway,
    turnVisitorAway,
    succeed(active, reply, value) {
      const { plan } = active
      if (plan.gateStage === 'row' && !active.admitted) throw new Error(`${plan.id} answered without asking its gate`)
      // Handlers are typed by their contract entry, and the entry says that it streams.
      if (active.success.streams) return goOn(active, reply, value as StreamAnswer)
      trail.succeeded(active)
      closeWhereNeeded(reply)
      // As above: the entry says that it is rendered.
      if (active.success.rendered) return sendPieces(active, reply, value as Rendered)
      const { status, media, encode } = active.success
      void reply.code(status)
      if (media !== undefined) void reply.header('content-type', media)
      const payload = encode(value)
      depart(() => send(active, reply, payload))
    },
  }
}

/** What Node needs to answer without the framework. */
function headOf(reply: FastifyReply, media: string | undefined): Omit<StreamHead, 'status'> {
  // The framework's own name for the same values lists request headers among them.
  const headers = { ...(reply.getHeaders() as OutgoingHttpHeaders), 'content-type': media }
  return { response: reply.raw, socket: reply.request.raw.socket, headers }
}

interface Failure {
  readonly error: unknown
  readonly answer: Problem
  readonly correlationId: string
  readonly trace: TraceMarks | undefined
  readonly operation: string | undefined
}

function logFailure(log: Logger, { error, answer, operation, ...of }: Failure): void {
  const line = { ...logMarks(of), operation, status: answer.status, code: answer.code }
  if (answer.status >= 500) log.error({ ...line, err: error }, 'request failed')
  else if (log.isLevelEnabled('info')) log.info({ ...line, cause: causeOf(error) }, 'request refused')
}

function causeOf(error: unknown): string | undefined {
  const inner = error instanceof Error ? (error.cause ?? error) : error
  return inner instanceof Error ? inner.message : undefined
}

function requestLine(active: ActiveRequest, status: number, ms: number): object {
  const { plan, knownCaller, sourceAddress } = active
  return {
    ...logMarks(active),
    operation: plan.id,
    subject: knownCaller?.subject,
    address: sourceAddress,
    status,
    ms,
  }
}

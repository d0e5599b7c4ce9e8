import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { Problem, problem, type ProblemCode } from '../../../shared/problems.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Caller } from '../../ports/credential-resolver.ts'
import type { Span, TraceMarks, Tracing } from '../../ports/tracing.ts'
import { API_VERSION_HEADER, type ApiVersions } from '../api-version.ts'
import { browserFactsOf, prefersHtml } from '../browser-facts.ts'
import { forwardedAddress, type ClientAddress, type IsSecure } from '../client-address.ts'
import type { Authenticate, Wanted } from '../auth/authenticate.ts'
import { setCookie, type CookieScope } from '../cookies.ts'
import { correlationIdOf } from '../correlation.ts'
import type { Drain } from '../limits/drain.ts'
import { onExchangeEnd } from '../exchange-end.ts'
import { withoutMark } from './first-arrival.ts'
import type { Load } from '../limits/load.ts'
import { isOriginAllowed, type AllowedOrigins } from '../auth/origins.ts'
import { sendFile } from './static-file.ts'
import { PAGE_HEADERS, sendDocument, sendFailurePage } from './page-responses.ts'
import type { ForeignRoutes, Page, PageAnswer, PageVisit, PublicJson } from './pages.ts'
import { answerTo, sendProblem } from '../problem-responses.ts'
import { RateLimited, type RateLimits } from '../limits/rate-limits.ts'
import { beginSpan, endSpan } from '../request-spans.ts'
import { logMarks, marksOf, traceParentOf } from '../trace-context.ts'

export interface PagesDeps {
  readonly pages: readonly Page[]
  readonly foreignRoutes: readonly ForeignRoutes[]
  readonly authenticate: Authenticate
  readonly clock: Clock
  readonly drain: Drain
  readonly log: Logger
  readonly mint: () => string
  readonly versions: ApiVersions
  readonly clientAddress: ClientAddress
  readonly isSecure: IsSecure
  readonly allowedOrigins: AllowedOrigins
  readonly load: Load
  readonly rateLimits?: RateLimits | undefined
  readonly tracing?: Tracing | undefined
}

/** Mounts the pages, and the routes of other libraries. */
export function mountPages(fastify: FastifyInstance, deps: PagesDeps): void {
  for (const page of deps.pages) {
    fastify.route({
      method: page.method === 'GET' ? ['GET', 'HEAD'] : page.method,
      url: page.path,
      handler: (request, reply) => serve(page, { request, reply }, deps),
    })
  }
  for (const routes of deps.foreignRoutes) mountForeign(fastify, routes, deps)
}

interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

async function serve(page: Page, exchange: Exchange, deps: PagesDeps): Promise<void> {
  const { request, reply } = exchange
  const correlationId = correlationIdOf(request.headers, deps.mint)
  void reply.headers(headersOf(page, { deps, correlationId }))
  deps.drain.entered()
  const span = deps.tracing && spanOf(page, request, { deps, correlationId, tracing: deps.tracing })
  const trace = span?.marks ?? marksOf(traceParentOf(request.headers))
  const arrived = { deps, correlationId, trace }
  let refused: ProblemCode | undefined
  try {
    assertServable(deps)
    const visit = await visitOf(page, request, arrived)
    send(exchange, await page.handler(visit), { isSecure: visit.browser.isSecure, versions: deps.versions })
  } catch (error) {
    refused = refuse(exchange, error, { ...arrived, page }).code
  } finally {
    if (span !== undefined) endSpan(span, { status: reply.statusCode, code: refused, path: page.path })
    deps.drain.left()
  }
}

function headersOf({ path }: Page, { deps, correlationId }: Pick<Arrived, 'deps' | 'correlationId'>) {
  return {
    ...PAGE_HEADERS,
    'X-Correlation-Id': correlationId,
    [API_VERSION_HEADER]: deps.versions.headerFor(path),
  }
}

function assertServable({ drain, load }: PagesDeps): void {
  if (drain.draining()) throw problem('shutting_down', { retry_after_seconds: 1 })
  load.assertRoom()
}

interface Arrived {
  readonly deps: PagesDeps
  readonly correlationId: string
  readonly trace: TraceMarks | undefined
}

interface Spanned extends Pick<Arrived, 'deps' | 'correlationId'> {
  readonly tracing: Tracing
}

function spanOf(page: Page, request: FastifyRequest, { deps, correlationId, tracing }: Spanned): Span {
  const parent = traceParentOf(request.headers)
  const { sourceAddress, isSecure } = whenceOf(request, deps)
  const names = { name: page.path, route: page.path }
  return beginSpan(tracing, request, { ...names, correlationId, sourceAddress, isSecure, parent })
}

/** From where a request came, and whether on a way that nobody reads. */
function whenceOf(
  request: FastifyRequest,
  deps: PagesDeps,
): { readonly sourceAddress: string; readonly isSecure: boolean } {
  const { headers, socket } = request
  return {
    sourceAddress: forwardedAddress(deps.clientAddress, request),
    isSecure: deps.isSecure(socket.remoteAddress, 'encrypted' in socket, oneOf(headers['x-forwarded-proto'])),
  }
}

async function visitOf(page: Page, request: FastifyRequest, arrived: Arrived): Promise<PageVisit> {
  const { headers } = request
  const { deps, correlationId } = arrived
  const nowMs = deps.clock.now()
  const { sourceAddress, isSecure } = whenceOf(request, deps)
  if (page.perAddress === true) deps.rateLimits?.takeVisit(sourceAddress, nowMs)
  const fetchSite = oneOf(headers['sec-fetch-site'])
  if (page.method === 'POST' && !isOriginAllowed({ origin: headers.origin, fetchSite }, deps.allowedOrigins))
    throw problem('origin_not_allowed')
  const target = withoutMark(request.url)
  return {
    method: page.method,
    correlationId,
    nowMs,
    sourceAddress,
    target,
    query: new URLSearchParams(target.split('?')[1]),
    form: formOf(request.body),
    session: page.isPublic === true ? undefined : await sessionOf(page, { request, sourceAddress }, arrived),
    browser: browserFactsOf(request, isSecure),
    arriving: { target: request.url, fetchSite, host: headers.host, isSecure, nowMs },
  }
}

/** A field that is sent twice says nothing. */
function oneOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

const SESSION: Wanted = { operation: { credentials: ['session'] }, unauthenticated: 'unauthenticated' }

interface Sent {
  readonly request: FastifyRequest
  readonly sourceAddress: string
}

/**
 * The caller of a session that resolves; undefined for any other visitor. An address with too many failed credentials is
 * still shown the pages, but sends no form: its handler could look the cookie up again, past the limit.
 *
 * @throws RateLimited for a form from such an address.
 */
async function sessionOf(
  { method }: Page,
  { request, sourceAddress }: Sent,
  { deps, ...by }: Arrived,
): Promise<Caller | undefined> {
  const from = { sourceAddress, socket: request.raw.socket }
  try {
    return await deps.authenticate(SESSION, { headers: request.headers, ...by, from })
  } catch (error) {
    if (error instanceof RateLimited && method === 'GET') return undefined
    if (error instanceof Problem && error.status === 401) return undefined
    throw error
  }
}

/** @throws Problem `unsupported_media_type` for a body that is no form. */
function formOf(body: unknown): URLSearchParams {
  if (body === undefined || body === null) return new URLSearchParams()
  // Only the parsers of operations make bodies.
  const { bytes, media } = body as { readonly bytes: Buffer; readonly media: string }
  if (media !== 'application/x-www-form-urlencoded') throw problem('unsupported_media_type')
  return new URLSearchParams(bytes.toString('utf8'))
}

function send({ request, reply }: Exchange, answer: PageAnswer, by: CookieScope): void {
  for (const cookie of answer.cookies ?? [])
    for (const field of setCookie(cookie, by)) void reply.header('Set-Cookie', field)
  if ('location' in answer) return void reply.code(303).header('Location', answer.location).send()
  if ('json' in answer) return sendPublicJson(reply, answer)
  if ('file' in answer) return sendFile(reply, answer.file, request.headers)
  sendDocument(reply, answer.document, answer.status ?? 200)
}

function sendPublicJson(reply: FastifyReply, { json, maxAgeSeconds }: PublicJson): void {
  void reply
    .header('Cache-Control', `public, max-age=${maxAgeSeconds}`)
    .header('Cross-Origin-Resource-Policy', 'cross-origin')
    .header('Content-Type', 'application/json; charset=utf-8')
    .send(json)
}

function refuse({ request, reply }: Exchange, error: unknown, at: Arrived & { readonly page: Page }): Problem {
  const { correlationId, deps, page } = at
  const answer = answerTo(error, { overCap: 'request_body_too_large', outage: 'datastore_unavailable' })
  const line = { ...logMarks(at), page: page.path, status: answer.status, code: answer.code }
  if (answer.status >= 500) deps.log.error({ ...line, err: error }, 'page failed')
  else deps.log.info(line, 'page refused')
  if (answer instanceof RateLimited) void reply.headers(answer.headers)
  if (!prefersHtml(request.headers.accept)) {
    sendProblem(reply, answer, { correlationId })
    return answer
  }
  sendFailurePage(reply, answer, correlationId)
  return answer
}

const FOREIGN_METHODS = ['GET', 'POST', 'OPTIONS']

/** Hands the request over before its body is read: who takes it reads it by its own rules. */
function mountForeign(
  fastify: FastifyInstance,
  { prefix, handle }: ForeignRoutes,
  { drain, load }: Pick<PagesDeps, 'drain' | 'load'>,
): void {
  for (const url of [prefix, `${prefix}/*`]) {
    fastify.route({
      method: FOREIGN_METHODS,
      url,
      onRequest: (request, reply) => {
        load.assertRoom()
        reply.hijack()
        drain.entered()
        onExchangeEnd(request.raw, reply.raw, () => drain.left())
        handle(request.raw, reply.raw)
      },
      handler: () => undefined,
    })
  }
}

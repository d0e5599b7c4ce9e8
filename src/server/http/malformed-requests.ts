import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { problem, type Problem, type PlainProblemCode } from '../../shared/problems.ts'
import { API_VERSION_HEADER, type ApiVersions } from './api-version.ts'
import { correlationIdOf } from './correlation.ts'
import { problemDocument } from './problem-responses.ts'

const CODES: Readonly<Record<string, PlainProblemCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/** What the answers to requests that reach no route need. */
export interface RefusalDeps {
  readonly mint: () => string
  readonly versions: ApiVersions
}

/** Answers bytes that are no HTTP request with a problem document on the bare socket, and closes it. */
export function answerMalformedRequest(
  error: Error & { readonly code?: string },
  socket: Duplex,
  { mint, versions }: RefusalDeps,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) {
    socket.destroy()
    return
  }
  endWith(socket, problem(CODES[error.code ?? ''] ?? 'invalid_request'), headOf(mint(), versions.headerFor('')))
}

/** Refuses a request whose head can be read in two ways, as the last one of its connection. */
export function refuseAmbiguous(
  { headers, url = '' }: IncomingMessage,
  response: ServerResponse,
  { mint, versions }: RefusalDeps,
): void {
  const correlationId = correlationIdOf(headers, mint)
  const refusal = problem('invalid_request')
  const body = JSON.stringify(problemDocument(refusal, { correlationId }))
  response.writeHead(refusal.status, headersOf(body, headOf(correlationId, versions.headerFor(url))))
  response.end(body)
}

/** Refuses a connection that sent too many requests at once, and closes it: none of its waiting requests is served. */
export function refuseConnection(
  socket: Socket,
  { headers, url = '' }: Pick<IncomingMessage, 'headers' | 'url'>,
  { mint, versions }: RefusalDeps,
): void {
  if (!socket.writable || socket.writableLength > 0 || isAnswering(socket)) {
    socket.destroy()
    return
  }
  endWith(socket, problem('overloaded'), headOf(correlationIdOf(headers, mint), versions.headerFor(url)))
  socket.once('finish', () => socket.destroy())
}

/** Answers the requests for which Node's server has separate events: `CONNECT`, and unknown expectations. */
export function answerConnectAndExpect(server: Server, { mint, versions }: RefusalDeps): void {
  server.on('connect', (_request, socket) =>
    endWith(socket, problem('method_not_allowed'), headOf(mint(), versions.headerFor(''))),
  )
  // RFC 9110 §10.1.1 leaves it open to ignore them.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
}

/** Whether an answer was begun already: a second status line would be read as part of its body. */
function isAnswering(socket: Duplex): boolean {
  // The member in which Node's server keeps a socket's current answer; Node's own handler of such errors reads it, too.
  const { _httpMessage: answer } = socket as { readonly _httpMessage?: { readonly headersSent: boolean } | null }
  return answer?.headersSent === true
}

type Headers = Readonly<Record<string, string>>

interface Head {
  readonly correlationId: string
  readonly apiVersion: string
}

function headOf(correlationId: string, apiVersion: string): Head {
  return { correlationId, apiVersion }
}

function endWith(socket: Duplex, answer: Problem, head: Head): void {
  const body = JSON.stringify(problemDocument(answer, head))
  const retryAfter = answer.status === 503 && { 'Retry-After': '1' }
  const headers = Object.entries({ ...headersOf(body, head), ...retryAfter })
  socket.end(
    [
      `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}`,
      ...headers.map(([name, value]) => `${name}: ${value}`),
      '',
      body,
    ].join('\r\n'),
  )
}

function headersOf(body: string, { correlationId, apiVersion }: Head): Headers {
  return {
    'Content-Type': 'application/problem+json',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Correlation-Id': correlationId,
    [API_VERSION_HEADER]: apiVersion,
    Connection: 'close',
  }
}

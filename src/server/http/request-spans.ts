import type { FastifyRequest } from 'fastify'
import type { Span, TraceParent, Tracing } from '../ports/tracing.ts'

/** The facts of a request in its span. */
export interface SpannedRequest {
  /** Operation id, or the path of a page. */
  readonly name: string
  /** The template of the path. */
  readonly route: string
  readonly correlationId: string
  readonly sourceAddress: string
  readonly isSecure: boolean
  readonly parent: TraceParent | undefined
}

const AGENT_CHARACTERS_MAX = 256

/** Begins the span of a request, by the semantic conventions of HTTP servers: neither query nor header that may hold a credential. */
export function beginSpan(tracing: Tracing, { headers, method, raw }: FastifyRequest, of: SpannedRequest): Span {
  const agent = headers['user-agent']
  return tracing.begin(of.name, {
    kind: 'server',
    parent: of.parent,
    attributes: {
      'http.request.method': method,
      'http.route': of.route,
      'url.scheme': of.isSecure ? 'https' : 'http',
      'network.protocol.version': raw.httpVersion,
      'client.address': of.sourceAddress,
      'ctl.correlation_id': of.correlationId,
      ...(agent !== undefined && { 'user_agent.original': agent.slice(0, AGENT_CHARACTERS_MAX) }),
    },
  })
}

/** How a request ended. */
export interface SpannedAnswer {
  readonly status: number
  /** Code of the problem that was answered. */
  readonly code: string | undefined
  /** Without the query: the requested path if it holds only names and ids, else its template. */
  readonly path: string
}

/** Ends the span of a request. A refusal counts as an error of the caller, not of this server. */
export function endSpan(span: Span, { status, code, path }: SpannedAnswer): void {
  const problem = code === undefined ? {} : { 'ctl.problem': code }
  const error = status >= 500 ? (code ?? String(status)) : undefined
  span.end({ 'http.response.status_code': status, 'url.path': path, ...problem }, error)
}

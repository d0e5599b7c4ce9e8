import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { httpStatusOf, type Health } from './health.ts'

export interface OpsDeps {
  readonly health: Health
  /** The metrics as text. */
  readonly metrics: { readonly contentType: string; text(): Promise<string> }
  /** Called with failures that the answer does not contain. */
  readonly onError: (error: unknown) => void
}

interface Answer {
  readonly status: number
  readonly type: string
  readonly body: string
}

const TEXT = 'text/plain; charset=utf-8'
const HEADERS_TIMEOUT_MS = 10_000
/** Its connections use files that the server keeps for itself. */
const CONNECTIONS_MAX = 64

/**
 * Creates the server of `--ops-listen`: `/metrics`, and the health for clients that cannot reach the API. It does not
 * listen yet. Above 64 connections a new one is closed, and idle ones make room.
 */
export function createOpsServer(deps: OpsDeps): Server {
  const answers: Readonly<Record<string, () => Promise<Answer>>> = {
    '/metrics': async () => ({ status: 200, type: deps.metrics.contentType, body: await deps.metrics.text() }),
    '/livez': async () => ({ status: 200, type: TEXT, body: 'ok\n' }),
    '/readyz': async () => {
      const report = await deps.health.report()
      return { status: httpStatusOf(report), type: 'application/json', body: JSON.stringify(report) }
    },
  }

  async function answer({ method, url = '' }: IncomingMessage): Promise<Answer> {
    const path = url.split('?')[0] ?? ''
    const find = Object.hasOwn(answers, path) ? answers[path] : undefined
    if (find === undefined) return { status: 404, type: TEXT, body: 'There is nothing here; try /metrics.\n' }
    if (method !== 'GET' && method !== 'HEAD') return { status: 405, type: TEXT, body: 'Only GET is served here.\n' }
    return find()
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume()
    const { status, type, body } = await answer(request).catch((error: unknown) => {
      deps.onError(error)
      return { status: 500, type: TEXT, body: 'The metrics could not be read; the log says why.\n' }
    })
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
  }

  const server = createServer(
    { headersTimeout: HEADERS_TIMEOUT_MS },
    (request, response) => void respond(request, response),
  )
  server.maxConnections = CONNECTIONS_MAX
  return server.on('drop', () => server.closeIdleConnections())
}

import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as the stub saw it. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
}

/** What the stub answers; JSON unless the body is a text. `hangUp` ends the connection without an answer. */
export interface StubAnswer {
  readonly status?: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Answers as a server that is no ctl server. */
  readonly isForeign?: true
  readonly hangUp?: true
}

/** By `METHOD /path`, without the query. A list answers one after the other, its last one ever after. */
export type StubRoutes = Readonly<
  Record<string, StubAnswer | readonly StubAnswer[] | ((request: SeenRequest) => StubAnswer)>
>

export interface StubServer {
  readonly url: string
  readonly seen: readonly SeenRequest[]
  close(): Promise<void>
}

export const STUB_CORRELATION_ID = '00000000-0000-4000-a000-00000000c0de'

/** A problem document as the server writes them. */
export function refused(status: number, code: string, detail: string): StubAnswer {
  return {
    status,
    headers: { 'content-type': 'application/problem+json' },
    body: { type: `/problems/${code}`, title: code, status, detail, code, correlation_id: STUB_CORRELATION_ID },
  }
}

/** Serves scripted answers over a real socket on loopback, so that the whole client is under test. */
export async function startStub(
  routes: StubRoutes,
  /** Asked first; what it answers stands. */
  guard: (request: SeenRequest) => StubAnswer | undefined = () => undefined,
): Promise<StubServer> {
  const seen: SeenRequest[] = []
  const counts = new Map<string, number>()
  const answerTo = (request: SeenRequest): StubAnswer => {
    const guarded = guard(request)
    if (guarded) return guarded
    const key = `${request.method} ${request.path}`
    const route = routes[key]
    const count = counts.get(key) ?? 0
    counts.set(key, count + 1)
    if (route === undefined) return refused(404, 'not_found', `The stub has no ${key}.`)
    if (typeof route === 'function') return route(request)
    return Array.isArray(route) ? (route[Math.min(count, route.length - 1)] ?? {}) : (route as StubAnswer)
  }
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const url = new URL(incoming.url ?? '/', 'http://stub')
      const text = Buffer.concat(chunks).toString('utf8')
      const request: SeenRequest = {
        method: incoming.method ?? '',
        path: decodeURIComponent(url.pathname),
        query: url.searchParams,
        headers: incoming.headers,
        body: text === '' ? undefined : JSON.parse(text),
      }
      seen.push(request)
      const { status = 200, body, headers = {}, hangUp, isForeign } = answerTo(request)
      if (hangUp) return incoming.socket.destroy()
      const isText = typeof body === 'string'
      const media = body === undefined ? {} : { 'content-type': isText ? 'text/plain' : 'application/json' }
      const version = isForeign === true ? {} : { 'x-service-api-version': 'current=v1, latest=v1' }
      outgoing.writeHead(status, { ...version, ...media, ...headers })
      return outgoing.end(body === undefined ? undefined : isText ? body : JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

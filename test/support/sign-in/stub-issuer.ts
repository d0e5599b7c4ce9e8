import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** An HTTP server that stands for an identity provider, or for what must not be reached. */
export interface StubIssuer {
  /** `http://127.0.0.1:<port>`: the issuer. */
  readonly url: string
  readonly port: number
  /** Paths in the order in which they were asked for. */
  readonly asked: string[]
  /** Connections that were opened. */
  connections(): number
  /** What a path answers: a JSON value, or a handler. */
  on(path: string, answer: unknown): void
  stop(): Promise<void>
}

/** Starts one on a free port of loopback; what no path was given for is 404. */
export async function startStubIssuer(host = '127.0.0.1'): Promise<StubIssuer> {
  const answers = new Map<string, unknown>()
  const asked: string[] = []
  let connections = 0
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    asked.push(path)
    const answer = answers.get(path)
    if (typeof answer === 'function') return (answer as Handler)(request, response)
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer ?? { error: 'not_found' }))
  })
  server.on('connection', () => (connections += 1))
  const port = await listening(server, host)
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    asked,
    connections: () => connections,
    on: (path, answer) => void answers.set(path, answer),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** What discovery of a stub says when nothing is wrong with it. */
export function discoveryOf(url: string): Readonly<Record<string, unknown>> {
  return {
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    jwks_uri: `${url}/keys`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'ES256'],
  }
}

export const DISCOVERY = '/.well-known/openid-configuration'

function listening(server: Server, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, host, () => resolve((server.address() as AddressInfo).port))
  })
}

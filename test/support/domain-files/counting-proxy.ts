import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'

/** A server in front of another one, which counts what is written through it. */
export interface CountingProxy {
  readonly url: string
  /** `PUT /v1/…` of each call that is no read, in their order. */
  readonly writes: string[]
  /** Runs before an answer to a write goes back: the server has carried it out by then. */
  afterWrite: (count: number) => void
  close(): void
}

/** Starts a proxy on a free port of loopback. */
export async function startCountingProxy(target: string): Promise<CountingProxy> {
  const writes: string[] = []
  const server = createServer((asked, answer) => void pass(asked, answer))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  const proxy: CountingProxy = {
    url: `http://127.0.0.1:${address.port}`,
    writes,
    afterWrite: () => undefined,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }

  async function pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const body = await buffer(asked)
    const { host: _own, ...headers } = asked.headers
    const sent = request(`${target}${asked.url ?? ''}`, { method: asked.method, headers }, (got) => {
      if (asked.method !== 'GET') {
        writes.push(`${asked.method ?? ''} ${asked.url ?? ''}`)
        proxy.afterWrite(writes.length)
      }
      answer.writeHead(got.statusCode ?? 502, got.headers)
      got.pipe(answer)
    })
    sent.on('error', () => answer.destroy())
    sent.end(body)
  }

  return proxy
}

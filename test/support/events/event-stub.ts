import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One connection to the stub, as its script sees it. */
export interface StubConnection {
  /** From 1. */
  readonly number: number
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly lastEventId: string | undefined
  /** Writes text as it is, true or not. */
  send(text: string): void
  /** Bytes that the reader has not taken yet, nor its kernel. */
  waiting(): number
  /** Ends the answer in order. */
  end(): void
  /** Breaks the connection. */
  hangUp(): void
  /** Answers with a problem, or whatever is said, instead of a stream. */
  refuse(status: number, body: object, headers?: Readonly<Record<string, string>>): void
}

export interface EventStub {
  readonly url: string
  readonly connections: readonly StubConnection[]
  /** Connections that are open now. */
  open(): number
  close(): Promise<void>
}

/** A server of event streams that does what its script says, over a real socket. */
export async function startEventStub(
  script: (connection: StubConnection) => void,
  at?: { readonly path: string },
): Promise<EventStub> {
  const connections: StubConnection[] = []
  const opened = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    opened.add(response)
    response.on('close', () => opened.delete(response))
    const lastEventId = request.headers['last-event-id']
    const connection: StubConnection = {
      number: connections.length + 1,
      path: request.url ?? '',
      headers: request.headers,
      lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
      send(text) {
        if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
        response.write(text)
      },
      waiting: () => response.writableLength,
      end: () => void response.end(),
      hangUp: () => void request.socket.destroy(),
      refuse(status, body, headers = {}) {
        response.writeHead(status, { 'content-type': 'application/problem+json', ...headers })
        response.end(JSON.stringify(body))
      },
    }
    connections.push(connection)
    script(connection)
  })
  const where = at ?? { host: '127.0.0.1', port: 0 }
  await new Promise<void>((resolve) => server.listen(where, resolve))
  return {
    url: at === undefined ? `http://127.0.0.1:${(server.address() as AddressInfo).port}` : `unix:${at.path}`,
    connections,
    open: () => opened.size,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

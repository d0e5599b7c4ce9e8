import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { vi } from 'vitest'

/** A request that an endpoint got. */
export interface Received {
  readonly id: string
  /** Seconds since the epoch. */
  readonly timestamp: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Answers a request; 204 where nothing is said. It may also never answer. */
export type Answering = (received: Received, response: ServerResponse) => void | Promise<void>

/** An endpoint of webhooks on loopback. */
export interface Receiver {
  readonly url: string
  readonly received: readonly Received[]
  /** What it answers from now on. */
  answering: Answering
  /** Requests that are open. */
  open(): number
  /** Resolves when so many requests have come. */
  gotten(count: number): Promise<readonly Received[]>
  stop(): Promise<void>
}

export async function startReceiver(port = 0): Promise<Receiver> {
  const received: Received[] = []
  let open = 0
  const server = createServer((request, response) => {
    open += 1
    response.on('close', () => {
      open -= 1
    })
    void take(request, response)
  })

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const one = {
      id: headers['webhook-id'] ?? '',
      timestamp: Number(headers['webhook-timestamp']),
      path: request.url ?? '',
      headers,
      body: Buffer.concat(chunks).toString('utf8'),
    }
    received.push(one)
    await receiver.answering(one, response)
  }

  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answering: answer(204),
    open: () => open,
    gotten: (count) =>
      vi.waitFor(
        () => {
          if (received.length < count) throw new Error(`${received.length} of ${count} requests have come`)
          return received
        },
        { timeout: 20_000, interval: 10 },
      ),
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return receiver
}

/** Answers with a status, and perhaps with headers and a body. */
export function answer(status: number, headers: Readonly<Record<string, string>> = {}, body = ''): Answering {
  return (_received, response) => {
    response.writeHead(status, headers)
    response.end(body)
  }
}

/** Accepts a request and never answers it. */
export const silent: Answering = () => undefined

/** Verifies a request as its receiver does, with the library of Standard Webhooks, at the time at which it was sent. @throws */
export function verified(secret: string, { headers, body, timestamp }: Received): Record<string, unknown> {
  vi.useFakeTimers({ now: timestamp * 1000, toFake: ['Date'] })
  try {
    return new Webhook(secret).verify(body, headers) as Record<string, unknown>
  } finally {
    vi.useRealTimers()
  }
}

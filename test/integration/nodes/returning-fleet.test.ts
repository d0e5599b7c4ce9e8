import { afterEach, describe, expect, it } from 'vitest'
import { createChangeFeed } from '../../../src/server/adapters/postgres/change-feed.ts'
import { createApp } from '../../../src/server/http/app.ts'
import { mounted } from '../../../src/server/http/request-context.ts'
import { createKeyMint } from '../../../src/server/nodes/mint-key.ts'
import { createNskResolver } from '../../../src/server/nodes/nsk-resolver.ts'
import { createNodes } from '../../../src/server/nodes/service.ts'
import { nodes } from '../../../src/shared/contract/nodes.ts'
import pino from 'pino'
import { CHECKSUM, startFleet, type Enrolled, type Fleet } from '../../support/fleet.ts'
import { addNodes } from '../../support/many-nodes.ts'
import { openRawSocket, requestBytes, type RawSocket } from '../../support/raw-socket.ts'
import { STORES } from '../../support/stores.ts'

const AGENTS = 10_000
const AGENTS_PER_CONNECTION = 10
const FLOODING_CONNECTIONS = 50
const UNLIMITED = { count: 0, seconds: 1 }

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean()
})

/** A replica that was just started: nothing of any key is in its memory. The rate of failed credentials is the default. */
async function restarted(fleet: Fleet): Promise<number> {
  const warn = (message: string, cause?: unknown): never => {
    throw new Error(message, { cause })
  }
  const parts = { ...fleet, feed: createChangeFeed({ datastore: fleet.datastore, warn }) }
  const app = createApp({
    ...fleet,
    surfaces: [mounted(nodes, createNodes({ ...parts, env: 'test', onBack: () => undefined }).handlers)],
    resolvers: [createNskResolver(parts)],
    audit: { add: () => undefined, write: async () => undefined, close: async () => undefined },
    log: pino({ level: 'silent' }),
    trustedProxies: ['127.0.0.0/8'],
    allowedOrigins: [],
    rates: {
      failedCredentials: { count: 30, seconds: 60 },
      signIn: UNLIMITED,
      serviceTokens: UNLIMITED,
      registrations: UNLIMITED,
      node: UNLIMITED,
      domain: UNLIMITED,
      writes: UNLIMITED,
      reads: UNLIMITED,
    },
  })
  await parts.feed.start()
  cleanups.push(async () => {
    await app.drain(1_000)
    parts.feed.stop()
  })
  return app.listen({ host: '127.0.0.1', port: 0 })
}

function heartbeat(fleet: Fleet, { node_id, nsk }: Pick<Enrolled, 'node_id' | 'nsk'>, from: string): string {
  const body = JSON.stringify({
    client_now: new Date(fleet.clock.nowMs).toISOString(),
    binary_checksum: CHECKSUM,
    binary_version: '1.0.0',
  })
  const headers = {
    Authorization: `Bearer ${nsk}`,
    'Content-Type': 'application/json',
    'Content-Length': String(body.length),
    'X-Forwarded-For': from,
  }
  return requestBytes(`POST /v1/nodes/${node_id}/heartbeat`, headers, body)
}

/** Presents well-formed keys of nodes that there are not, until it is stopped. Resolves then with how they were answered. */
async function flood(fleet: Fleet, port: number, until: AbortSignal): Promise<ReadonlyMap<number, number>> {
  const mintKey = createKeyMint({ env: 'test', keyring: fleet.keyring })
  const statuses = new Map<number, number>()
  async function connection(): Promise<void> {
    const socket = await openRawSocket(port)
    const guess = (): string => {
      const id = fleet.ids.next()
      return heartbeat(fleet, { node_id: id, nsk: mintKey(id, fleet.clock.nowMs).nsk }, '203.0.113.66')
    }
    for (let sent = 16; !until.aborted && socket.isOpen(); sent += 16) {
      socket.send(Array.from({ length: 16 }, guess).join(''))
      await Promise.race([socket.answers(sent), aborted(until)])
    }
    for (const { status } of await socket.answers(0)) statuses.set(status, (statuses.get(status) ?? 0) + 1)
    socket.destroy()
  }
  await Promise.all(Array.from({ length: FLOODING_CONNECTIONS }, connection))
  return statuses
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

describe.each(STORES)('a fleet that comes back after a restart, on the $name store', (store) => {
  it.skipIf(store.missing)(
    'from one address is let in whole while another address floods',
    async () => {
      const fleet = await startFleet(store)
      cleanups.push(() => fleet.stop())
      const agents = await addNodes(fleet, await fleet.domain(), AGENTS)
      const port = await restarted(fleet)
      const stop = new AbortController()
      const flooding = flood(fleet, port, stop.signal)

      const statuses = new Map<number, number>()
      const sockets: RawSocket[] = []
      cleanups.push(() => sockets.forEach((socket) => socket.destroy()))
      const batches = Array.from({ length: AGENTS / AGENTS_PER_CONNECTION }, (_, index) =>
        agents.slice(index * AGENTS_PER_CONNECTION, (index + 1) * AGENTS_PER_CONNECTION),
      )
      await Promise.all(
        batches.map(async (batch) => {
          const socket = await openRawSocket(port)
          sockets.push(socket)
          socket.send(batch.map((agent) => heartbeat(fleet, agent, '203.0.113.1')).join(''))
          for (const { status } of await socket.answers(batch.length))
            statuses.set(status, (statuses.get(status) ?? 0) + 1)
        }),
      )
      stop.abort()
      const flooded = await flooding

      expect(Object.fromEntries(statuses)).toEqual({ 200: AGENTS })
      expect(flooded.get(401)).toBe(30)
      expect(flooded.get(200)).toBeUndefined()
      expect(flooded.get(429)).toBeGreaterThan(0)
    },
    180_000,
  )
})

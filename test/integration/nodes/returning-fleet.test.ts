import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import pino from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { createChangeFeed } from '../../../src/server/adapters/postgres/change-feed.ts'
import { createApp } from '../../../src/server/http/app.ts'
import { mounted } from '../../../src/server/http/request-context.ts'
import { createKeyMint } from '../../../src/server/slices/nodes/mint-key.ts'
import { createNskResolver } from '../../../src/server/slices/nodes/nsk-resolver.ts'
import { createNodes } from '../../../src/server/slices/nodes/service.ts'
import { nodes } from '../../../src/shared/contract/nodes.ts'
import { CHECKSUM, startFleet, type Enrolled, type Fleet } from '../../support/fleet/fleet.ts'
import { addNodes } from '../../support/fleet/many-nodes.ts'
import { requestBytes } from '../../support/network/raw-socket.ts'
import { STORES } from '../../support/datastores/stores.ts'

const AGENTS = 10_000
const REQUESTS_PER_CONNECTION = 10
const GUESSES = 2_000
const CHILD = fileURLToPath(new URL('../../support/network/callers-child.mjs', import.meta.url))
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
    resolvers: [createNskResolver({ ...parts, changeFeed: parts.feed })],
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

/** Another process that sends requests. Resolves with how many answers of each status came, once it is done or stopped. */
function callers(work: { readonly port: number; readonly connections: string[][]; readonly isEndless: boolean }) {
  const child = spawn(process.execPath, [CHILD], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(work))
  cleanups.push(() => child.kill('SIGKILL'))
  const answered = text(child.stdout).then((said) => JSON.parse(said) as Readonly<Record<string, number>>)
  return { answered, stop: () => void child.kill('SIGTERM') }
}

function batchesOf(requests: readonly string[]): string[][] {
  return Array.from({ length: requests.length / REQUESTS_PER_CONNECTION }, (_, index) =>
    requests.slice(index * REQUESTS_PER_CONNECTION, (index + 1) * REQUESTS_PER_CONNECTION),
  )
}

/** Well-formed keys of nodes that there are not. */
function guesses(fleet: Fleet): string[] {
  const mintKey = createKeyMint({ env: 'test', keyring: fleet.keyring })
  return Array.from({ length: GUESSES }, () => {
    const id = fleet.ids.next()
    return heartbeat(fleet, { node_id: id, nsk: mintKey(id, fleet.clock.nowMs).nsk }, '203.0.113.66')
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
      const flood = callers({ port, connections: batchesOf(guesses(fleet)), isEndless: true })
      const heartbeats = agents.map((agent) => heartbeat(fleet, agent, '203.0.113.1'))
      const returning = callers({ port, connections: batchesOf(heartbeats), isEndless: false })

      expect(await returning.answered).toEqual({ 200: AGENTS })
      flood.stop()
      const { 200: ok, 401: failed, 429: limited = 0 } = await flood.answered
      expect([ok, failed]).toEqual([undefined, 30])
      expect(limited).toBeGreaterThan(0)
    },
    180_000,
  )
})

// The whole server for the benchmark of streams, over a bus that is told what to deliver. The nodes are registered by a
// process before it, whose memory is not measured.
import { generateKeyPairSync } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import { openBackend } from '../../../dist/server/composition/backend.js'
import { parseConfig } from '../../../dist/server/config/config.js'
import { createMemoryHandover } from '../../../dist/server/first-run/memory-handover.js'
import { serve } from '../../../dist/server/composition/serve.js'
import { HIGH_RATE_LIMITS } from '../../support/server/high-rate-limits.mjs'
import { readMetrics } from './servers.mjs'
import { envelopeOf, serveWaves } from './sse-waves.mjs'

const REGISTERING = 16

const [count, directory, isRegistering] = [Number(process.argv[2]), process.argv[3], process.argv[4] === 'register']
const handover = createMemoryHandover()
let follower
let seq = 0n

const server = await serve({
  config: parseConfig({
    argv: ['--listen', '127.0.0.1:0', '--ops-listen', '127.0.0.1:0', '--data-dir', directory],
    env: HIGH_RATE_LIMITS,
  }),
  log: pino({ level: 'silent' }),
  handover,
  onBroken(error) {
    throw error
  },
  openBackend: async (...asked) => ({ ...(await openBackend(...asked)), bus: injected() }),
})

/** A bus that keeps nothing: streams that begin with what comes next ask it for nothing, and what the relay tells it is done with. */
function injected() {
  return {
    kind: 'event-log',
    publish: async (events) => events.map(() => ({ kind: 'stored' })),
    bounds: async () => ({ head: seq, oldest: undefined, newest: undefined }),
    read: async () => [],
    async subscribe(following) {
      follower = following
      return { from: seq, stop: async () => {} }
    },
    ping: async () => {},
    awaySinceMs: () => undefined,
    close: async () => {},
  }
}

async function call(method, path, token, body) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response = await fetch(server.url + path, { method, headers, body: body && JSON.stringify(body) })
  const answer = await response.json()
  if (!response.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`)
  return answer
}

async function register() {
  const { domain_id: domainId } = await call('GET', '/v1/auth/whoami', handover.token())
  const path = `/v1/domains/${domainId}/join-tokens`
  const { token } = await call('POST', path, handover.token(), { max_uses: count })
  const nodes = []
  let next = 0
  const one = async () => {
    while (next < count) {
      const index = next++
      const key = generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'der' }).subarray(12)
      const body = { name: `bench-${index}`, kind: 'worker', public_key: key.toString('base64') }
      const { node_id: id, nsk } = await call('POST', '/v1/nodes/register', token, body)
      nodes.push({ id, nsk })
    }
  }
  await Promise.all(Array.from({ length: REGISTERING }, one))
  return nodes
}

/** What nodes are told of each other's arrival takes a while after it, and memory that is not the streams'. */
async function told() {
  while (
    Object.entries(await readMetrics(server)).some(([name, value]) => name.startsWith('event_relay_lag') && value > 0)
  )
    await sleep(500)
}

if (isRegistering) {
  const nodes = await register()
  await told()
  await server.close()
  process.send(nodes, () => process.disconnect())
} else {
  process.once('message', serveNodes)
}

function serveNodes(nodes) {
  serveWaves({
    port: Number(new URL(server.url).port),
    requests: nodes.map(({ id, nsk }) => ({ path: `/v1/nodes/${id}/events`, authorization: `Bearer ${nsk}` })),
    prepare: (wave) =>
      nodes.map(({ id }) => ({
        seq: (seq += 1n),
        nodeId: id,
        nodeSeq: BigInt(wave),
        type: 'node_state_updated',
        wire: envelopeOf(id, wave),
      })),
    deliver: (events) => follower.onEvents(events),
    close: () => server.close(),
  })
}

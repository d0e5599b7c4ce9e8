// Durable heartbeats of 64 nodes over 64 connections, against bare Fastify with the same body; every node's last
// acknowledged heartbeat is read back afterwards.
import { generateKeyPairSync } from 'node:crypto'
import pg from 'pg'
import { startBaseline, startCtl, callApi, memoryOf } from './support/servers.mjs'
import { startPostgresCluster } from '../support/datastores/postgres-cluster.mjs'
import { post } from './support/load.mjs'
import { median, printRecord, printTable, round } from './support/report.mjs'
import { roundsOf } from './support/rounds.mjs'

const ROUNDS = 5
const SECONDS = 4
const CONNECTIONS = 64
const GOALS = { postgres: 0.55, embedded: 0.3 }

export async function run(args) {
  for (const store of args.includes('--embedded')
    ? ['embedded']
    : args.includes('--postgres')
      ? ['postgres']
      : ['embedded', 'postgres']) {
    await runOn(store, roundsOf(args, ROUNDS))
  }
}

async function runOn(store, times) {
  const postgres = store === 'postgres' ? await startPostgresCluster({ collation: ['--locale=C'] }) : undefined
  const server = await startCtl({ databaseUrl: postgres?.url })
  if (postgres) await assertDurable(postgres)
  const nodes = await register(server, CONNECTIONS)
  const answer = await callApi(server, 'POST', `/v1/nodes/${nodes[0].node_id}/heartbeat`, {
    token: nodes[0].nsk,
    body: heartbeat(),
  })
  const path = '/v1/nodes/x/heartbeat'
  const baseline = await startBaseline({ path, answer })
  const acknowledged = Array.from({ length: CONNECTIONS })
  const loadBare = () =>
    post(baseline.url, {
      connections: CONNECTIONS,
      seconds: SECONDS,
      requestOf: () => ({ path, headers: {}, body: heartbeat() }),
    })
  const loadCtl = () =>
    post(server.url, {
      connections: CONNECTIONS,
      seconds: SECONDS,
      requestOf: (connection) => ({
        path: `/v1/nodes/${nodes[connection].node_id}/heartbeat`,
        headers: { authorization: `Bearer ${nodes[connection].nsk}` },
        body: heartbeat(),
      }),
      onAnswer: (connection, buffer) => {
        acknowledged[connection] = buffer
      },
    })
  await loadBare()
  await loadCtl()
  const rounds = []
  for (let count = 0; count < times; count++) rounds.push({ bare: await loadBare(), ctl: await loadCtl() })
  const lost = await countLost(server, nodes, acknowledged)
  const memory = await memoryOf(server.pid)
  await Promise.all([server.stop(), baseline.stop()])
  await postgres?.stop()

  const of = (side, figure) => median(rounds.map((each) => each[side][figure]))
  const record = {
    bench: 'heartbeat',
    store,
    bare_rps: Math.round(of('bare', 'requestsPerSecond')),
    ctl_rps: Math.round(of('ctl', 'requestsPerSecond')),
    ratio: round(median(rounds.map(({ bare, ctl }) => ctl.requestsPerSecond / bare.requestsPerSecond))),
    goal: GOALS[store],
    ctl_p50_ms: of('ctl', 'p50Ms'),
    ctl_p99_ms: of('ctl', 'p99Ms'),
    failures: rounds.reduce((sum, { ctl }) => sum + ctl.failures, 0),
    acknowledged_nodes_read_back: CONNECTIONS,
    lost,
    rss_peak_mb: memory.peakMb,
  }
  printTable(
    ['store', 'bare rps', 'ctl rps', 'ratio', 'goal', 'p50 ms', 'p99 ms', 'failures', 'lost'],
    [
      [
        store,
        record.bare_rps,
        record.ctl_rps,
        record.ratio,
        record.goal,
        record.ctl_p50_ms,
        record.ctl_p99_ms,
        record.failures,
        lost,
      ],
    ],
  )
  printRecord(record)
}

function heartbeat() {
  return { client_now: new Date().toISOString(), binary_checksum: 'ab'.repeat(32), binary_version: '1.0.0' }
}

async function assertDurable({ url }) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
      const { rows } = await client.query(`show ${setting}`)
      if (rows[0][setting] !== 'on') throw new Error(`the benchmark needs ${setting}=on, found ${rows[0][setting]}`)
    }
  } finally {
    await client.end()
  }
}

async function register(server, count) {
  const { domain_id: domainId } = await callApi(server, 'GET', '/v1/auth/whoami')
  const { token } = await callApi(server, 'POST', `/v1/domains/${domainId}/join-tokens`, { body: { max_uses: count } })
  const nodes = []
  for (let index = 0; index < count; index++) {
    const publicKey = generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'der' }).subarray(12)
    nodes.push(
      await callApi(server, 'POST', '/v1/nodes/register', {
        token,
        body: { name: `bench-${index}`, kind: 'worker', public_key: publicKey.toString('base64') },
      }),
    )
  }
  return nodes
}

async function countLost(server, nodes, acknowledged) {
  let lost = 0
  for (const [index, node] of nodes.entries()) {
    const last = JSON.parse(acknowledged[index].toString()).accepted_at
    const { last_heartbeat_at: stored } = await callApi(server, 'GET', `/v1/nodes/${node.node_id}/reachability`, {
      token: node.nsk,
    })
    if (!(Date.parse(stored) >= Date.parse(last))) lost++
  }
  return lost
}

// Every node of a Domain of 10,000 pulls its state once, over 64 connections, against bare Fastify that sends as many bytes,
// the two in turn. `--nodes=N` takes another number, `--postgres` or `--embedded` one store alone.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgresCluster } from '../support/datastores/postgres-cluster.mjs'
import { median, printRecord, printTable, round } from './support/report.mjs'
import { callApi, memoryOf, registerNodes, startBytes, startCtl } from './support/servers.mjs'

const NODES = 10_000
const CONNECTIONS = 64
/** Registrations at once: those of one Domain wait for each other. */
const REGISTERING = 4
const ROUNDS = 10
const GOAL = 0.5

export async function run(args) {
  const asked = args.find((arg) => arg.startsWith('--nodes='))?.slice('--nodes='.length)
  const nodes = Number(asked ?? NODES)
  for (const store of args.includes('--embedded')
    ? ['embedded']
    : args.includes('--postgres')
      ? ['postgres']
      : ['embedded', 'postgres']) {
    await runOn(store, nodes)
  }
}

async function runOn(store, count) {
  const directory = await mkdtemp(join(tmpdir(), 'ctl-bench-'))
  const postgres = store === 'postgres' ? await startPostgresCluster({ collation: ['--locale=C'] }) : undefined
  const server = await startCtl({ databaseUrl: postgres?.url })
  const nodes = await registerNodes(server, count, { atOnce: REGISTERING })
  const [first] = nodes
  const document = await callApi(server, 'GET', `/v1/nodes/${first.node_id}/state`, { token: first.nsk })
  if (document.peers.length !== count - 1)
    throw new Error(`a state of ${document.peers.length} peers, not ${count - 1}`)
  const file = join(directory, 'state.json')
  await writeFile(file, JSON.stringify(document))
  const bare = await startBytes(file)
  const pullBare = (some) => pullAll(some.map(() => ({ url: `${bare.url}/` })))
  const pullCtl = (some) =>
    pullAll(some.map(({ node_id: id, nsk }) => ({ url: `${server.url}/v1/nodes/${id}/state`, nsk })))
  const warm = nodes.slice(0, CONNECTIONS * 2)
  await pullBare(warm)
  await pullCtl(warm)
  const rounds = []
  for (let index = 0; index < ROUNDS; index++) {
    const some = nodes.slice((index * count) / ROUNDS, ((index + 1) * count) / ROUNDS)
    rounds.push({ bare: await pullBare(some), ctl: await pullCtl(some) })
  }
  const memory = await memoryOf(server.pid)
  await Promise.all([server.stop(), bare.stop()])
  await postgres?.stop()
  await rm(directory, { recursive: true, force: true })

  const of = (side, figure) => median(rounds.map((each) => each[side][figure]))
  const record = {
    bench: 'state-pull',
    store,
    nodes: count,
    connections: CONNECTIONS,
    state_bytes: Buffer.byteLength(JSON.stringify(document)),
    bare_rps: round(of('bare', 'perSecond')),
    ctl_rps: round(of('ctl', 'perSecond')),
    ratio: round(median(rounds.map(({ bare: b, ctl }) => ctl.perSecond / b.perSecond))),
    goal: GOAL,
    ctl_p50_ms: round(of('ctl', 'p50Ms')),
    ctl_p99_ms: round(of('ctl', 'p99Ms')),
    failures: rounds.reduce((sum, { ctl }) => sum + ctl.failures, 0),
    rss_peak_mb: memory.peakMb,
    load_average: round(loadavg()[0]),
  }
  printTable(
    ['store', 'nodes', 'bare rps', 'ctl rps', 'ratio', 'goal', 'p50 ms', 'p99 ms', 'failures', 'peak MB'],
    [
      [
        store,
        count,
        record.bare_rps,
        record.ctl_rps,
        record.ratio,
        GOAL,
        record.ctl_p50_ms,
        record.ctl_p99_ms,
        record.failures,
        record.rss_peak_mb,
      ],
    ],
  )
  printRecord(record)
}

/** Makes every request once, so many at a time; an answer but 200, or one that is cut short, is a failure. */
async function pullAll(requests) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const latencies = []
  let failures = 0
  let next = 0
  const startedAt = performance.now()
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (next < requests.length) {
        const request = requests[next++]
        const sentAt = performance.now()
        if (!(await isPulled(request, agent))) failures += 1
        latencies.push(performance.now() - sentAt)
      }
    }),
  )
  const seconds = (performance.now() - startedAt) / 1000
  agent.destroy()
  const sorted = latencies.toSorted((a, b) => a - b)
  const after = (share) => sorted[Math.ceil(share * sorted.length) - 1]
  return { perSecond: requests.length / seconds, p50Ms: after(0.5), p99Ms: after(0.99), failures }
}

function isPulled({ url, nsk }, agent) {
  return new Promise((resolve) => {
    const headers = nsk === undefined ? {} : { authorization: `Bearer ${nsk}` }
    get(url, { agent, headers }, (response) => {
      response.resume()
      response.on('close', () => resolve(response.complete && response.statusCode === 200))
    }).on('error', () => resolve(false))
  })
}

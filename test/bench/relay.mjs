// The way of a change to its node: unmerged events at a fixed rate, from the beginning of the transaction to the socket of
// an event stream; and a Domain of ten thousand nodes whose endpoints keep changing, where what waits must stay bounded.
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgresCluster } from '../support/datastores/postgres-cluster.mjs'
import { nextMessage, start } from './support/children.mjs'
import { printRecord, printTable, round } from './support/report.mjs'
import { callApi } from './support/servers.mjs'
import { HIGH_RATE_LIMITS } from '../support/server/high-rate-limits.mjs'

const STREAMS = 100
const RATE = 1_000
const PER_CHANGE = 10
const WARM_SECONDS = 3
const SECONDS = 20
const P99_GOAL_MS = 250
const FLEET = 10_000
/** 1% of them in a minute. */
const CHANGES_PER_MINUTE = FLEET / 100
const FLEET_SECONDS = 60
/** What no lane needs any more is deleted once each lane was told, which takes ten seconds: the changes of twenty are too many. */
const HINTS_MAX = (CHANGES_PER_MINUTE / 60) * 20
/** A hint on its way per node at most, and far less where hints leave as fast as they are made. */
const WAITING_MAX = 2_000

export async function run(args) {
  const numberAfter = (name, fallback) => {
    const said = args.find((argument) => argument.startsWith(`${name}=`))
    return said === undefined ? fallback : Number(said.slice(name.length + 1))
  }
  const sizes = {
    rate: numberAfter('--rate', RATE),
    seconds: numberAfter('--seconds', SECONDS),
    fleet: numberAfter('--fleet', FLEET),
    fleetSeconds: numberAfter('--fleet-seconds', FLEET_SECONDS),
  }
  const stores = ['embedded', 'postgres'].filter((store) => args.includes(`--${store}`))
  for (const store of stores.length > 0 ? stores : ['embedded', 'postgres']) await runOn(store, sizes)
}

async function runOn(store, sizes) {
  const postgres = store === 'postgres' ? await startPostgresCluster({ collation: ['--locale=C'] }) : undefined
  const directory = await mkdtemp(join(tmpdir(), 'ctl-bench-'))
  const env = { ...process.env, ...HIGH_RATE_LIMITS }
  const plane = start('./relay-plane.mjs', [directory, ...(postgres ? [postgres.url] : [])], { env })
  const { url } = await nextMessage(plane)
  const server = { url, token: (await readFile(join(directory, 'token'), 'utf8')).trim() }
  const ask = async (command, parameters) => {
    plane.send({ command, parameters })
    return (await nextMessage(plane)).result
  }
  const { domain_id: domainId } = await callApi(server, 'GET', '/v1/auth/whoami')
  const nodes = await register(server, domainId)
  if (sizes.seconds > 0) await unmerged({ store, server, nodes, ask, sizes })
  if (sizes.fleetSeconds > 0) await fleet({ store, domainId, ask, sizes })
  await ask('stop')
  await postgres?.stop()
}

async function unmerged({ store, server, nodes, ask, sizes: { rate, seconds } }) {
  const reader = start('./relay-reader.mjs', [JSON.stringify({ url: server.url, nodes })])
  await nextMessage(reader)
  const read = async () => {
    reader.send('read')
    return nextMessage(reader)
  }
  const addressed = nodes.map(({ node_id: nodeId, domain_id: domainId }) => ({ nodeId, domainId }))
  const load = { nodes: addressed, rate, perChange: PER_CHANGE }
  await ask('requests', { ...load, seconds: WARM_SECONDS })
  await sleep(2_000)
  await read()
  const { committed, took, cpu } = await ask('requests', { ...load, seconds })
  await sleep(2_000)
  const { latencies, broken } = await read()
  reader.kill('SIGTERM')
  await once(reader, 'exit')
  const sorted = latencies.toSorted((a, b) => a - b)
  const at = (share) => round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN)
  const record = {
    bench: 'relay',
    case: 'unmerged',
    store,
    committed,
    received: sorted.length,
    events_per_second: Math.round(committed / took),
    p50_ms: at(0.5),
    p99_ms: at(0.99),
    max_ms: at(1),
    goal_p99_ms: P99_GOAL_MS,
    out_of_order: broken,
    cpu_cores: round(cpu),
  }
  printTable(
    ['store', 'committed', 'received', 'events/s', 'p50 ms', 'p99 ms', 'max ms', 'goal p99', 'out of order', 'cores'],
    [
      [
        store,
        committed,
        sorted.length,
        record.events_per_second,
        at(0.5),
        at(0.99),
        at(1),
        P99_GOAL_MS,
        broken,
        record.cpu_cores,
      ],
    ],
  )
  printRecord(record)
}

async function fleet({ store, domainId, ask, sizes: { fleet: count, fleetSeconds: seconds } }) {
  await ask('fill', { domainId, count })
  const perMinute = count / 100
  const { changes, samples, cpu, published, rssMb } = await ask('endpoints', { domainId, count, perMinute, seconds })
  // The first ten seconds fill the window.
  const settled = samples.filter(({ at }) => at > 15_000 || at > (seconds * 1000) / 2)
  const most = (figure) => Math.max(...settled.map((sample) => sample[figure]))
  const record = {
    bench: 'relay',
    case: 'fleet',
    store,
    nodes: count,
    changes,
    hints_per_second: Math.round(published),
    hint_rows_max: most('hints'),
    hint_rows_goal: Math.round(HINTS_MAX * (count / FLEET)),
    waiting_max: most('waiting'),
    waiting_goal: WAITING_MAX,
    lag_seconds_max: round(most('lag')),
    cpu_cores: round(cpu),
    rss_mb: rssMb,
  }
  printTable(
    [
      'store',
      'nodes',
      'changes',
      'hints/s',
      'hint rows max',
      'goal',
      'waiting max',
      'goal',
      'lag s max',
      'cores',
      'rss MB',
    ],
    [
      [
        store,
        count,
        changes,
        record.hints_per_second,
        record.hint_rows_max,
        record.hint_rows_goal,
        record.waiting_max,
        WAITING_MAX,
        record.lag_seconds_max,
        record.cpu_cores,
        rssMb,
      ],
    ],
  )
  printRecord(record)
}

async function register(server, domainId) {
  const { token } = await callApi(server, 'POST', `/v1/domains/${domainId}/join-tokens`, {
    body: { max_uses: STREAMS },
  })
  const nodes = []
  for (let index = 0; index < STREAMS; index++) {
    const publicKey = generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'der' }).subarray(12)
    const body = { name: `bench-${index}`, kind: 'worker', public_key: publicKey.toString('base64') }
    nodes.push(await callApi(server, 'POST', '/v1/nodes/register', { token, body }))
  }
  return nodes
}

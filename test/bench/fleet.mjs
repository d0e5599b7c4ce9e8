// A Domain of so many nodes lives for five minutes: every agent holds its stream and reports every 30 s, and in each
// minute one node of a hundred is seen under another address and one pulls its state. What it costs at 1,000, 2,500,
// 5,000 and 10,000 nodes is set beside each other: the first size is the baseline of the others.
// The agents of the fleet share one process, in which a heartbeat's answer waits behind what others are told: how soon the
// server answers is what a few agents see that have a process to themselves and nothing but heartbeats to do.
// `--nodes=N[,N…]`, `--minutes=M`, `--postgres` or `--embedded` take less of it.
// `--reachable` compares one fleet by both peer visibilities instead (support/visible-fleet.mjs).
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgresCluster } from '../support/datastores/postgres-cluster.mjs'
import { cpuSecondsOf, familyOf } from './support/processes.mjs'
import { printRecord, printTable, round } from './support/report.mjs'
import { memoryOf, startCtl } from './support/servers.mjs'
import { commandLines, flawsOf, flawsText, play, warmUpOf } from './support/simulations.mjs'
import { compareVisibilities } from './support/visible-fleet.mjs'

const SIZES = [1_000, 2_500, 5_000, 10_000]
const MINUTES = 5
const GOAL_HEARTBEAT_P99_MS = 100
const HEADER =
  'store|nodes|server cores|datastore cores|CPU ms/node/min|server MB|peak MB|KB/node|heartbeat p50 ms|p99 ms|in the fleet p50 ms|p99 ms|pull p99 ms|events|flaws|agents cores|agents MB'

export async function run(args) {
  const value = (name) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3)
  const sizes = value('nodes')?.split(',').map(Number) ?? SIZES
  const minutes = Number(value('minutes') ?? MINUTES)
  const stores = ['embedded', 'postgres'].filter((store) => args.includes(`--${store}`))
  for (const store of stores.length === 0 ? ['embedded', 'postgres'] : stores) {
    if (args.includes('--reachable')) {
      for (const nodes of sizes) await compareVisibilities({ store, nodes, minutes })
      continue
    }
    const records = []
    for (const nodes of sizes) records.push(await liveOn(store, nodes, minutes))
    const [first] = records
    for (const record of records) {
      record.cpu_per_node_of_first = round(record.cpu_ms_per_node_minute / first.cpu_ms_per_node_minute)
    }
    printTable(HEADER.split('|'), records.map(rowOf))
    for (const record of records) printRecord(record)
  }
}

async function liveOn(store, nodes, minutes) {
  const directory = await mkdtemp(join(tmpdir(), 'ctl-bench-'))
  const postgres = store === 'postgres' ? await startPostgresCluster({ collation: ['--locale=C'] }) : undefined
  const server = await startCtl({ databaseUrl: postgres?.url })
  const { fleet, reporters } = await commandLines(server, { directory, nodes })
  const processes = async () => ({
    at: performance.now(),
    server: await cpuSecondsOf([server.pid]),
    datastore: postgres === undefined ? 0 : await cpuSecondsOf(await familyOf(postgres.pid)),
  })
  try {
    const warmUp = warmUpOf(nodes)
    const standing = []
    const times = ['--duration', `${minutes * 60 + warmUp}s`, '--warm-up', `${warmUp}s`]
    /** @type {ReturnType<typeof play> | undefined} */
    let reporting
    const living = await play([...fleet, ...times], async ({ phase, elapsed_seconds: elapsed }, pid) => {
      if (phase === 'running') reporting ??= play([...reporters, ...times])
      if (phase !== 'running' || elapsed < warmUp) return
      const [agents, memory] = [await cpuSecondsOf([pid]), await memoryOf(server.pid)]
      standing.push({ ...(await processes()), agents, memory })
    })
    return describe({ store, nodes, minutes, standing, living, reporting: await reporting })
  } finally {
    await server.stop()
    await postgres?.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

function describe({ store, nodes, minutes, standing, living, reporting }) {
  const [first, last] = [standing[0], standing.at(-1)]
  const seconds = (last.at - first.at) / 1000
  const cores = (member) => (last[member] - first[member]) / seconds
  const { summary } = living
  const { latency } = summary
  const { heartbeat } = reporting.summary.latency
  const serverMb = standing.reduce((sum, { memory }) => sum + memory.nowMb, 0) / standing.length
  return {
    bench: 'fleet',
    store,
    nodes,
    minutes,
    server_cores: round(cores('server')),
    datastore_cores: round(cores('datastore')),
    cpu_ms_per_node_minute: round(((cores('server') + cores('datastore')) * 60_000) / nodes),
    server_mb: Math.round(serverMb),
    server_peak_mb: last.memory.peakMb,
    kb_per_node: round((serverMb * 1024) / nodes),
    heartbeats: latency.heartbeat.count,
    heartbeat_p50_ms: heartbeat.p50_ms,
    heartbeat_p99_ms: heartbeat.p99_ms,
    heartbeat_p99_goal_ms: GOAL_HEARTBEAT_P99_MS,
    fleet_heartbeat_p50_ms: latency.heartbeat.p50_ms,
    fleet_heartbeat_p99_ms: latency.heartbeat.p99_ms,
    pull_p99_ms: latency.state_pull?.p99_ms,
    events: summary.events,
    flaws: flawsOf([summary, reporting.summary]),
    agents_cores: round(cores('agents')),
    agents_mb: living.peakMb,
    load_average: round(loadavg()[0]),
  }
}

function rowOf(record) {
  const { store, nodes, server_cores, datastore_cores, cpu_ms_per_node_minute, server_mb, server_peak_mb } = record
  const { kb_per_node, heartbeat_p50_ms, heartbeat_p99_ms, pull_p99_ms = '-', events, agents_cores, agents_mb } = record
  const fleet = [record.fleet_heartbeat_p50_ms, record.fleet_heartbeat_p99_ms]
  const cost = [server_cores, datastore_cores, cpu_ms_per_node_minute, server_mb, server_peak_mb, kb_per_node]
  const seen = [heartbeat_p50_ms, heartbeat_p99_ms, ...fleet, pull_p99_ms, events, flawsText(record.flaws)]
  return [store, nodes].concat(cost, seen, agents_cores, agents_mb)
}

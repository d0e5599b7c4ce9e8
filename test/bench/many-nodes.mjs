// A hundred thousand nodes in a hundred Domains on PostgreSQL and NATS: each reports every 30 s and holds its event stream, and in
// each minute one of a hundred is seen under another address. The agents are light ones, in a simulator for each server, so that
// files, processor and memory of servers and agents are known apart. There are as many servers as the limit of open files asks
// for. At the end one server is killed and started again: its streams come back, and no node becomes stale.
// `--nodes=N`, `--domains=D`, `--servers=S`, `--minutes=M`, `--warm-up=SECONDS` take less of it; `--hints=N` is the number that
// all servers together may send a second.
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { openFilesLimit } from './support/open-files.mjs'
import { cpuSecondsOf, familyOf } from './support/processes.mjs'
import { printRecord, printTable, round } from './support/report.mjs'
import { simulatorsOf, startReplicas } from './support/replicas.mjs'
import { memoryOf, readMetrics } from './support/servers.mjs'
import { flawsOf, flawsText, play } from './support/simulations.mjs'

const DEFAULTS = { nodes: 100_000, domains: 100, minutes: 5, 'warm-up': 240, hints: 2_000 }
const GOALS = { heartbeatP99Ms: 250, kbPerStream: 13, enrolledPerSecond: 1_000, deliveryMs: 90_000, restartMs: 90_000 }
/** Files of a process beside its streams: calls, the datastore, health and what the system itself opens. */
const FILES_KEPT = 3_000
/** How long the run lasts in which a server is restarted, s, and when that is. */
const RESTART_RUN_S = 180
const RESTART_AT_S = 30
export async function run(args) {
  const value = (name) =>
    Number(args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? DEFAULTS[name])
  const sizes = {
    nodes: value('nodes'),
    domains: value('domains'),
    minutes: value('minutes'),
    warmUpS: value('warm-up'),
    hints: value('hints'),
  }
  const needed = Math.ceil(sizes.nodes / (openFilesLimit() - FILES_KEPT))
  const servers = value('servers') || needed
  if (servers < needed) throw new Error(`${sizes.nodes} streams need ${needed} servers, by the limit of open files`)
  const directory = await mkdtemp(join(tmpdir(), 'ctl-bench-'))
  const world = await startReplicas({ servers, directory, hints: sizes.hints })
  try {
    const record = await measure(world, { ...sizes, directory })
    printTable(['what', 'measured', 'goal'], rowsOf(record))
    printRecord(record)
  } finally {
    await world.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

async function measure(world, { minutes, warmUpS, hints, ...sizes }) {
  const { servers } = world
  const simulators = await simulatorsOf(world, sizes)
  const idle = await Promise.all(servers.map(({ pid }) => memoryOf(pid)))
  const times = ['--duration', `${warmUpS + minutes * 60}s`, '--warm-up', `${warmUpS}s`]
  const fleet = createFleetWatch(servers.length)
  const window = createWindow(world)
  const startedAt = performance.now()
  const runs = simulators.map((simulator, index) =>
    play(
      [...simulator, ...times],
      async (progress) => {
        fleet.see(index, progress)
        if (index === 0 && progress.phase === 'running' && progress.elapsed_seconds >= warmUpS) await window.look()
      },
      MAY_BE_BOTTLENECK,
    ),
  )
  const summaries = (await Promise.all(runs)).map(({ summary }) => summary)
  const measured = {
    bench: 'many-nodes',
    nodes: sizes.nodes,
    domains: sizes.domains,
    servers: servers.length,
    hints_per_s: hints,
    load: round(loadavg()[0]),
    enrolled_per_s: Math.round(sizes.nodes / ((fleet.enrolledAt() - startedAt) / 1000)),
    ...window.costs(sizes.nodes, idle),
    idle_mb: Math.max(...idle.map(({ nowMb }) => nowMb)),
    ...describe(summaries),
  }
  console.error(JSON.stringify(measured))
  return { ...measured, restart: await restartOne(world, simulators) }
}

/** The record says so. */
const MAY_BE_BOTTLENECK = { mayBeBottleneck: true }

/** Reads what servers and datastores have used at the beginning and at the end of the measured minutes. */
function createWindow({ servers, postgres, nats }) {
  let [first, last] = []
  return {
    async look() {
      const now = {
        at: performance.now(),
        server: await cpuSecondsOf(servers.map(({ pid }) => pid)),
        postgres: await cpuSecondsOf(await familyOf(postgres.pid)),
        nats: await cpuSecondsOf([nats.pid]),
        wal: await walBytes(postgres),
        memory: await Promise.all(servers.map(({ pid }) => memoryOf(pid))),
      }
      first ??= now
      last = now
    },
    costs(nodes, idle) {
      const seconds = (last.at - first.at) / 1000
      const perSecond = (member) => (last[member] - first[member]) / seconds
      const grown = last.memory.reduce((sum, { nowMb }, index) => sum + nowMb - idle[index].nowMb, 0)
      return {
        server_cores: round(perSecond('server')),
        postgres_cores: round(perSecond('postgres')),
        nats_cores: round(perSecond('nats')),
        wal_bytes_per_node_minute: Math.round((perSecond('wal') * 60) / nodes),
        kb_per_stream: round((grown * 1024) / nodes),
      }
    },
  }
}

async function walBytes({ url }) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(`select pg_current_wal_lsn() - '0/0' as bytes`)
  await client.end()
  return Number(rows[0].bytes)
}

function describe(summaries) {
  return {
    agent_cores: round(summaries.reduce((sum, { generator }) => sum + generator.cpu_cores, 0)),
    agents_were_bottleneck: summaries.some(({ generator }) => generator.was_bottleneck),
    ...slowest(summaries, 'heartbeat'),
    ...slowest(summaries, 'change_delivery'),
    hints: sum(summaries, 'hints'),
    merged_share: round(sum(summaries, 'merged_hints') / Math.max(1, sum(summaries, 'hints'))),
    undelivered_changes: sum(summaries, 'undelivered_changes'),
    flaws: flawsOf(summaries),
  }
}

/** Resumes all nodes, kills a server, starts it again and waits until it has its streams. */
async function restartOne(world, simulators) {
  const openStreams = async () => (await readMetrics(world.servers[0])).event_streams_open
  let staleMost = 0
  const restart = async () => {
    const before = await openStreams()
    await world.restart(0)
    const startedAt = performance.now()
    while ((await openStreams()) < before) await sleep(250)
    return { streams: before, backMs: Math.round(performance.now() - startedAt) }
  }
  /** @type {ReturnType<typeof restart> | undefined} */
  let returned
  const runs = simulators.map((simulator) =>
    play(
      [...simulator, '--duration', `${RESTART_RUN_S}s`],
      ({ phase, elapsed_seconds: elapsed, reachability }) => {
        if (phase !== 'running' || elapsed < RESTART_AT_S) return
        returned ??= restart()
        staleMost = Math.max(staleMost, reachability?.stale ?? 0)
      },
      MAY_BE_BOTTLENECK,
    ),
  )
  const summaries = (await Promise.all(runs)).map(({ summary }) => summary)
  const { streams, backMs } = await returned
  return { streams, back_ms: backMs, stale_nodes_most: staleMost, missed_events: sum(summaries, 'missed_events') }
}

const sum = (summaries, member) => summaries.reduce((all, summary) => all + summary[member], 0)

/** The slowest simulator's percentiles of an operation. */
function slowest(summaries, operation) {
  const of = (member) => Math.max(...summaries.map(({ latency }) => latency[operation]?.[member] ?? 0))
  return {
    [`${operation}_p50_ms`]: of('p50_ms'),
    [`${operation}_p99_ms`]: of('p99_ms'),
    [`${operation}_max_ms`]: of('max_ms'),
  }
}

/** How often the state of a long run is written, ms. */
const WORD_EVERY_MS = 30_000

/** Sees when the last simulator has enrolled its nodes, and writes meanwhile how far they are. */
function createFleetWatch(count) {
  const [enrolled, latest] = [new Map(), new Map()]
  let writtenAt = performance.now()
  return {
    see(index, progress) {
      if (progress.phase !== 'registering' && !enrolled.has(index)) enrolled.set(index, performance.now())
      latest.set(index, progress)
      if (performance.now() - writtenAt < WORD_EVERY_MS) return
      writtenAt = performance.now()
      const of = [...latest.values()]
      const [nodes, operations] = [sum(of, 'nodes'), sum(of, 'operations_per_second')]
      console.error(
        `${of.map(({ phase }) => phase).join(', ')}: ${nodes} nodes, ${Math.round(operations)} operations a second`,
      )
    },
    enrolledAt: () => (enrolled.size === count ? Math.max(...enrolled.values()) : Number.NaN),
  }
}

function rowsOf(record) {
  return [
    ['nodes, Domains, servers', `${record.nodes}, ${record.domains}, ${record.servers}`, ''],
    ['enrolled a second', record.enrolled_per_s, GOALS.enrolledPerSecond],
    [
      'heartbeat p50, p99',
      `${record.heartbeat_p50_ms} ms, ${record.heartbeat_p99_ms} ms`,
      `p99 ${GOALS.heartbeatP99Ms} ms`,
    ],
    ['memory of a stream', `${record.kb_per_stream} KB`, `${GOALS.kbPerStream} KB`],
    ['memory of an idle server', `${record.idle_mb} MB`, ''],
    [
      'change until delivered p50, p99',
      `${record.change_delivery_p50_ms} ms, ${record.change_delivery_p99_ms} ms`,
      `${GOALS.deliveryMs} ms`,
    ],
    ['changes not delivered', record.undelivered_changes, 0],
    ['hints, of these merged', `${record.hints}, ${record.merged_share}`, ''],
    [
      'cores: servers, PostgreSQL, NATS, agents',
      `${record.server_cores}, ${record.postgres_cores}, ${record.nats_cores}, ${record.agent_cores}`,
      '',
    ],
    ['agents were the bottleneck', record.agents_were_bottleneck, false],
    ['WAL of a node and minute', `${record.wal_bytes_per_node_minute} bytes`, ''],
    ['flaws', flawsText(record.flaws), ''],
    [
      'streams of a killed server, back after',
      `${record.restart.streams}, ${record.restart.back_ms} ms`,
      `${GOALS.restartMs} ms`,
    ],
    ['most stale nodes of a simulator meanwhile', record.restart.stale_nodes_most, 0],
    ['events missed meanwhile', record.restart.missed_events, 0],
  ]
}

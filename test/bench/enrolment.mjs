// How many nodes a second enrol that come all at once, and what one costs: with NATS on PostgreSQL, a light fleet beside
// each server. `--nodes=N`, `--domains=D`, `--servers=S`, `--hints=N` take more or less of it.
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { cpuSecondsOf, familyOf } from './support/processes.mjs'
import { simulatorsOf, startReplicas } from './support/replicas.mjs'
import { printRecord, printTable, round } from './support/report.mjs'
import { play } from './support/simulations.mjs'

const DEFAULTS = { nodes: 4_000, domains: 20, servers: 1, hints: 2_000 }
const GOAL_PER_SECOND = 1_000

export async function run(args) {
  const value = (name) =>
    Number(args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? DEFAULTS[name])
  const sizes = { nodes: value('nodes'), domains: value('domains'), servers: value('servers'), hints: value('hints') }
  const directory = await mkdtemp(join(tmpdir(), 'ctl-bench-'))
  const world = await startReplicas({ ...sizes, directory })
  try {
    const record = await enrol(world, { ...sizes, directory })
    printTable(['what', 'measured', 'goal'], rowsOf(record))
    printRecord(record)
  } finally {
    await world.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

async function enrol(world, sizes) {
  const simulators = await simulatorsOf(world, sizes)
  const before = await usedBy(world)
  const startedAt = performance.now()
  let [endedAt, after] = [Number.NaN, before]
  let enrolling = simulators.length
  const runs = simulators.map((simulator) => {
    let isEnrolling = true
    return play(
      [...simulator, '--duration', '1s'],
      async ({ phase }) => {
        if (phase === 'registering' || !isEnrolling) return
        isEnrolling = false
        enrolling -= 1
        if (enrolling > 0) return
        endedAt = performance.now()
        after = await usedBy(world)
      },
      { mayBeBottleneck: true },
    )
  })
  await Promise.all(runs)
  const perNode = (name) => round(((after[name] - before[name]) * 1_000) / sizes.nodes)
  return {
    bench: 'enrolment',
    nodes: sizes.nodes,
    domains: sizes.domains,
    servers: sizes.servers,
    hints_per_s: sizes.hints,
    load: round(loadavg()[0]),
    enrolled_per_s: Math.round(sizes.nodes / ((endedAt - startedAt) / 1_000)),
    server_ms_per_node: perNode('servers'),
    postgres_ms_per_node: perNode('postgres'),
    nats_ms_per_node: perNode('nats'),
  }
}

/** Seconds of processors that servers and datastores have used. */
async function usedBy({ servers, postgres, nats }) {
  return {
    servers: await cpuSecondsOf(servers.map(({ pid }) => pid)),
    postgres: await cpuSecondsOf(await familyOf(postgres.pid)),
    nats: await cpuSecondsOf([nats.pid]),
  }
}

function rowsOf(record) {
  return [
    ['nodes, Domains, servers', `${record.nodes}, ${record.domains}, ${record.servers}`, ''],
    ['enrolled a second', record.enrolled_per_s, GOAL_PER_SECOND],
    [
      'ms of processors a node: servers, PostgreSQL, NATS',
      `${record.server_ms_per_node}, ${record.postgres_ms_per_node}, ${record.nats_ms_per_node}`,
      '',
    ],
  ]
}

// What a server takes of a small machine: resident memory of the embedded store beside that of its engine alone, idle and with 200
// nodes that report every 30 s, and of a server on PostgreSQL. Where control groups can be made, the server also starts and serves
// the 200 nodes within 512 MB, page cache and all. `--embedded` or `--postgres` take a part of it.
import { existsSync, mkdirSync, rmdirSync } from 'node:fs'
import { mkdtemp, readFile, rm, rmdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgresCluster } from '../support/datastores/postgres-cluster.mjs'
import { printRecord, printTable } from './support/report.mjs'
import { memoryOf, startCtl, startEmptyEngine } from './support/servers.mjs'
import { commandLines, play } from './support/simulations.mjs'

const NODES = 200
/** Until what a start leaves behind is collected, ms. */
const IDLE_MS = 60_000
const LOAD = ['--no-mesh', '--duration', '150s', '--warm-up', '90s']
/** Where memory is bounded, in version 1 and 2 of control groups. */
const HIERARCHIES = [
  { folder: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes', peak: 'memory.max_usage_in_bytes' },
  { folder: '/sys/fs/cgroup', limit: 'memory.max', peak: 'memory.peak' },
]
const GROUP = 'ctl-bench-small-box'
const GROUP_BYTES = 512 * 1024 * 1024
const GOALS = { aboveEngineMb: 80, loadedMb: 300, postgresMb: 110 }

export async function run(args) {
  const stores = ['embedded', 'postgres'].filter((store) => args.includes(`--${store}`))
  const chosen = stores.length === 0 ? ['embedded', 'postgres'] : stores
  const record = { bench: 'small-box', nodes: NODES }
  if (chosen.includes('embedded')) Object.assign(record, await ofEmbedded())
  if (chosen.includes('postgres')) record.postgres_idle_mb = await ofPostgres()
  printTable(['what', 'MB', 'goal'], rowsOf(record))
  printRecord(record)
}

async function ofEmbedded() {
  const engine = await startEmptyEngine()
  await sleep(IDLE_MS)
  const { nowMb: engineMb } = await memoryOf(engine.pid)
  await engine.stop()
  const { idle, loaded } = await served({})
  const inGroup = await inControlGroup()
  return {
    engine_mb: engineMb,
    idle_mb: idle.nowMb,
    above_engine_mb: idle.nowMb - engineMb,
    start_peak_mb: idle.peakMb,
    loaded_mb: loaded.nowMb,
    loaded_peak_mb: loaded.peakMb,
    ...inGroup,
  }
}

/** The memory of a server, idle and with the nodes. */
async function served(options) {
  const directory = await mkdtemp(join(tmpdir(), 'ctl-bench-'))
  const server = await startCtl({ ...options, directory })
  try {
    await sleep(IDLE_MS)
    const idle = await memoryOf(server.pid)
    const { fleet } = await commandLines(server, { directory, nodes: NODES })
    let loaded = idle
    const { summary } = await play([...fleet, ...LOAD], async ({ phase }) => {
      if (phase === 'running') loaded = await memoryOf(server.pid)
    })
    if (summary.errors > 0) throw new Error(`the nodes had ${summary.errors} errors`)
    return { idle, loaded }
  } finally {
    await server.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

/** The same within 512 MB; nothing where control groups of memory cannot be made. */
async function inControlGroup() {
  const hierarchy = HIERARCHIES.find(
    ({ folder, limit }) => existsSync(join(folder, 'cgroup.procs')) && hasLimit(folder, limit),
  )
  if (hierarchy === undefined) return { group: 'cannot be made here' }
  const group = join(hierarchy.folder, GROUP)
  await writeFile(join(group, hierarchy.limit), String(GROUP_BYTES))
  try {
    await served({ prefix: ['/bin/sh', '-c', `echo $$ > ${group}/cgroup.procs; exec "$@"`, 'sh'] })
    const peak = Number(await readFile(join(group, hierarchy.peak), 'utf8'))
    return { group: 'served', group_peak_mb: Math.round(peak / 1024 / 1024) }
  } finally {
    await rmdir(group)
  }
}

/** Makes the group; false where it bounds no memory. */
function hasLimit(folder, limit) {
  const group = join(folder, GROUP)
  try {
    mkdirSync(group)
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(error.code)) return false
    throw error
  }
  if (existsSync(join(group, limit))) return true
  rmdirSync(group)
  return false
}

async function ofPostgres() {
  const postgres = await startPostgresCluster({ collation: ['--locale=C'] })
  const server = await startCtl({ databaseUrl: postgres.url })
  try {
    await sleep(IDLE_MS)
    return (await memoryOf(server.pid)).nowMb
  } finally {
    await server.stop()
    await postgres.stop()
  }
}

function rowsOf(record) {
  const rows = [
    ['engine of the embedded store alone', record.engine_mb, ''],
    ['server with it, idle', record.idle_mb, ''],
    ['above the engine', record.above_engine_mb, GOALS.aboveEngineMb],
    ['highest, with the start', record.start_peak_mb, ''],
    [`with ${NODES} nodes`, record.loaded_mb, GOALS.loadedMb],
    ['highest with them', record.loaded_peak_mb, ''],
    ['within a control group of 512 MB', record.group_peak_mb ?? record.group, ''],
    ['server on PostgreSQL, idle', record.postgres_idle_mb, GOALS.postgresMb],
  ]
  return rows.filter(([, value]) => value !== undefined)
}

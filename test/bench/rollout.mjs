// A thousand simulated agents, of whose upgrades 3 % fail, get a release in five waves. With a budget of 20 failures the rollout must halt
// at the 21st; what is in flight then ends, and nothing more begins: how many nodes that are, and how many more of them fail, is
// measured for several numbers of nodes in flight. A last rollout has a budget that suffices, and must be completed.
// `--nodes=N` takes another number of agents, `--in-flight=N[,N…]` other numbers for the rollouts that halt; `--embedded` or
// `--postgres` takes one store. In the end the executions that the agents got are compared with those of the rollouts.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgresCluster } from '../support/datastores/postgres-cluster.mjs'
import { cpuSecondsOf, familyOf } from './support/processes.mjs'
import { printRecord, printTable, round } from './support/report.mjs'
import { callApi, CTL, startCtl } from './support/servers.mjs'
import { publishSignedReleases } from './support/signed-releases.mjs'

const NODES = 1_000
const WAVES = [5, 20, 40, 70, 100]
const FAILING = 0.03
const BUDGET = 20
const IN_FLIGHT = [50, 200]
/** Of the rollout that must be completed: far more than fail. */
const AMPLE = { budget: 100, inFlight: 200 }
const HEARTBEAT_INTERVAL = '5s'
const LOOK_EVERY_MS = 200
/** A rollout that takes longer has failed. */
const WAIT_MS = 900_000
const HEADER =
  'store|nodes|in flight|budget|status|seconds|failed at the end of it|in flight then|failed after all|done|begun|pending|server cores|datastore cores'

export async function run(args) {
  const value = (name) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3)
  const nodes = Number(value('nodes') ?? NODES)
  const inFlight = value('in-flight')?.split(',').map(Number) ?? IN_FLIGHT
  const stores = ['embedded', 'postgres'].filter((store) => args.includes(`--${store}`))
  for (const store of stores.length > 0 ? stores : ['embedded', 'postgres']) await runOn(store, { nodes, inFlight })
}

async function runOn(store, { nodes, inFlight }) {
  const directory = await mkdtemp(join(tmpdir(), 'ctl-bench-'))
  const cases = [...inFlight.map((most) => ({ budget: BUDGET, inFlight: most })), AMPLE]
  const versions = cases.map((_, index) => `2.${index}.0`)
  const args = await publishSignedReleases(join(directory, 'releases'), versions)
  const postgres = store === 'postgres' ? await startPostgresCluster({ collation: ['--locale=C'] }) : undefined
  const server = await startCtl({ databaseUrl: postgres?.url, args })
  const cpu = async () => ({
    server: await cpuSecondsOf([server.pid]),
    datastore: postgres === undefined ? 0 : await cpuSecondsOf(await familyOf(postgres.pid)),
  })
  let fleet
  try {
    const { domain_id: domainId } = await callApi(server, 'GET', '/v1/auth/whoami')
    await untilVerified(server, versions)
    // No node may reach another: a mesh of all pairs is what `npm run bench -- fleet` measures.
    const closed = { slug: 'closed', selector: '*', isolates: ['ingress', 'egress'], rules: [] }
    await callApi(server, 'POST', `/v1/domains/${domainId}/policies`, { body: closed })
    await callApi(server, 'PATCH', `/v1/domains/${domainId}`, { body: { peer_visibility: 'reachable' } })
    fleet = await startFleet(server, { directory, nodes })
    const records = []
    for (const [index, each] of cases.entries()) {
      const plan = { ...each, domainId, slug: `r${index}`, version: versions[index] }
      records.push({ bench: 'rollout', store, nodes: fleet.size, ...(await rollOut(server, plan, cpu)) })
      printRecord(records.at(-1))
    }
    const summary = await fleet.stop()
    const begun = records.reduce((sum, record) => sum + record.begun, 0)
    const taken = summary.upgrades + summary.upgrades_failed
    printTable(HEADER.split('|'), records.map(rowOf))
    printRecord({
      bench: 'rollout-agents',
      store,
      nodes: fleet.size,
      executions_of_rollouts: begun,
      executions_of_agents: taken,
      upgraded_twice: taken - begun,
      errors: summary.errors,
      refusals: summary.refusals,
      missed_events: summary.missed_events,
      outdated: summary.outdated,
      heartbeat_p99_ms: summary.latency.heartbeat.p99_ms,
      load_average: round(loadavg()[0]),
    })
  } finally {
    await fleet?.stop()
    await server.stop()
    await postgres?.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

async function untilVerified(server, versions) {
  const isVerified = ({ version, verdict }) => versions.includes(version) && verdict === 'verified'
  for (let tries = 0; tries < 150; tries++) {
    const { items } = await callApi(server, 'GET', '/v1/artifacts/plexd')
    if (items.filter(isVerified).length === versions.length) return
    await sleep(200)
  }
  throw new Error('the releases were not verified within 30 s')
}

/** Starts the agents. Resolves when all of them run, with their number; `stop` resolves with their summary. */
async function startFleet(server, { directory, nodes }) {
  const tokenFile = join(directory, 'token')
  await writeFile(tokenFile, `${server.token}\n`, { mode: 0o600 })
  const quiet = ['--edges', '0', '--pulls', '0%/min', '--reports', '0%/min', '--endpoint-changes', '0%/min']
  const habits = ['--violations', '0%/min', '--heartbeat-interval', HEARTBEAT_INTERVAL]
  const binaries = ['--binary-version', '1.0.0', '--upgrade-failures', `${FAILING * 100}%`]
  const target = ['--url', server.url, '--token-file', tokenFile, '--output', 'json']
  const plan = ['--nodes', String(nodes), '--concurrency', '8', '--duration', '6h']
  const child = spawn(process.execPath, [CTL, 'agent-sim', ...target, ...plan, ...quiet, ...habits, ...binaries], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = []
  child.stdout.on('data', (chunk) => said.push(chunk))
  const closed = once(child, 'close')
  const running = new Promise((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (!line.startsWith('{')) return console.error(line)
      const progress = JSON.parse(line)
      // Where a registration was refused there are fewer agents than planned.
      if (progress.phase === 'running' && progress.reachability?.healthy === progress.nodes) resolve(progress.nodes)
    })
    void closed.then(() => reject(new Error('the agents ended before they ran')))
  })
  const size = await running
  let summary
  return {
    size,
    async stop() {
      if (summary !== undefined) return summary
      child.kill('SIGINT')
      await closed
      summary = JSON.parse(Buffer.concat(said).toString())
      return summary
    },
  }
}

/** Carries a rollout out, looks at it until it has ended, and then until nothing of it is in flight. */
async function rollOut(server, { budget, inFlight, domainId, slug, version }, cpu) {
  const waves = WAVES.map((percent) => ({ percent }))
  const body = { slug, version, selector: '*', waves, max_in_flight: inFlight, max_failures: budget }
  const { id } = await callApi(server, 'POST', `/v1/domains/${domainId}/rollouts`, { body })
  const [cpuBefore, begin] = [await cpu(), performance.now()]
  await callApi(server, 'POST', `/v1/rollouts/${id}/start`)
  const looks = []
  const look = async () => {
    const rollout = await callApi(server, 'GET', `/v1/rollouts/${id}`)
    looks.push({ rollout, counts: countsOf(rollout) })
    return looks.at(-1)
  }
  const ended = await until(look, ({ rollout }) => rollout.finished_at !== null)
  const seconds = (performance.now() - begin) / 1000
  const settled = await until(look, ({ counts }) => counts.upgrading + counts.soaking === 0)
  const cpuAfter = await cpu()
  const wall = (performance.now() - begin) / 1000
  const cores = (member) => round((cpuAfter[member] - cpuBefore[member]) / wall)
  return {
    max_in_flight: inFlight,
    budget,
    status: ended.rollout.status,
    reason: ended.rollout.halted_reason,
    seconds: round(seconds),
    failed_at_end: ended.counts.failed,
    in_flight_at_end: ended.counts.upgrading + ended.counts.soaking,
    failed_after_all: settled.counts.failed,
    done: settled.counts.done,
    begun: await begunOf(server, id),
    pending: settled.counts.pending,
    in_flight_most: Math.max(...looks.map(({ counts }) => counts.upgrading + counts.soaking)),
    server_cores: cores('server'),
    datastore_cores: cores('datastore'),
    load_average: round(loadavg()[0]),
  }
}

function countsOf({ progress }) {
  const states = ['pending', 'upgrading', 'soaking', 'done', 'failed', 'skipped']
  return Object.fromEntries(
    states.map((state) => [state, progress.reduce((sum, { counts }) => sum + counts[state], 0)]),
  )
}

async function until(look, isOver) {
  const deadline = performance.now() + WAIT_MS
  for (;;) {
    const seen = await look()
    if (isOver(seen)) return seen
    if (performance.now() > deadline) throw new Error(`it took too long: ${JSON.stringify(seen)}`)
    await sleep(LOOK_EVERY_MS)
  }
}

/** Nodes whose upgrade was requested. */
async function begunOf(server, id) {
  let begun = 0
  let cursor = ''
  do {
    const page = await callApi(server, 'GET', `/v1/rollouts/${id}/nodes?limit=200${cursor && `&cursor=${cursor}`}`)
    begun += page.items.filter(({ execution_id: execution }) => execution !== null).length
    cursor = page.next_cursor ?? ''
  } while (cursor !== '')
  return begun
}

function rowOf(record) {
  const { store, nodes, max_in_flight: inFlight, budget, status, seconds, done, begun, pending } = record
  const { failed_at_end: failed, in_flight_at_end: then, failed_after_all: after } = record
  const ends = [status, seconds, failed, then, after, done, begun, pending]
  return [store, nodes, inFlight, budget, ...ends, record.server_cores, record.datastore_cores]
}

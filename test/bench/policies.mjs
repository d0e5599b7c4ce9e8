// A Domain of ten thousand nodes with a hundred policies and five hundred groups: how long a write of a policy takes to be
// answered, with the tests of all policies, and a change of a Project's label until each of its thousand nodes has its hint on
// its event stream. Beside the writes: a policy's new display name, which is a revision and the tests but matches nothing again,
// and a change of the Domain's display name, the write of one row. `--nodes=N` takes another number of nodes, `--rounds=N` of
// changes of labels, `--writes=N` of policies that change, `--concerned=N` of nodes whose label changes; `--embedded` or
// `--postgres` takes one store. The processor time is that of the server and the datastore, with what the writes before left to do.
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgresCluster } from '../support/datastores/postgres-cluster.mjs'
import { nextMessage, start } from './support/children.mjs'
import { createDomain, fillDomain, GROUPS, POLICIES, policyOf } from './support/policed-domain.mjs'
import { cpuSecondsOf, familyOf } from './support/processes.mjs'
import { printRecord, printTable, round } from './support/report.mjs'
import { callApi, readMetrics, startCtl } from './support/servers.mjs'

const NODES = 10_000
/** Nodes of the Project whose label changes. */
const CONCERNED = 1_000
const ROUNDS = 10
const WRITE_GOAL_MS = 1_000
const LABEL_GOAL_MS = 2_000
/** A change of which some stream has no hint by then has failed. */
const WAIT_MS = 60_000
/** The next hint of a node waits for a second. */
const BETWEEN_HINTS_MS = 1_100

export async function run(args) {
  const numberAfter = (name, fallback) =>
    Number(args.find((arg) => arg.startsWith(`${name}=`))?.slice(name.length + 1) ?? fallback)
  const sizes = {
    count: numberAfter('--nodes', NODES),
    rounds: numberAfter('--rounds', ROUNDS),
    writes: Math.min(POLICIES, numberAfter('--writes', POLICIES)),
    concerned: numberAfter('--concerned', CONCERNED),
  }
  const stores = ['embedded', 'postgres'].filter((store) => args.includes(`--${store}`))
  for (const store of stores.length > 0 ? stores : ['embedded', 'postgres']) await runOn(store, sizes)
}

async function runOn(store, { count, rounds, writes, concerned }) {
  const directory = await mkdtemp(join(tmpdir(), 'ctl-bench-'))
  const postgres = store === 'postgres' ? await startPostgresCluster({ collation: ['--locale=C'] }) : undefined
  const startServer = () => startCtl({ databaseUrl: postgres?.url, directory })
  let server = await startServer()
  try {
    const domain = await createDomain(server, Math.min(count, concerned))
    await untilQuiet(server)
    await server.stop()
    await fillDomain(store, { url: postgres?.url, dataDir: join(directory, 'data') }, { ...domain, count })
    server = await startServer()
    const common = { store, nodes: count, groups: GROUPS }
    const processes = async () => [server.pid, ...(postgres === undefined ? [] : await familyOf(postgres.pid))]
    const cpuMs = async () => 1_000 * (await cpuSecondsOf(await processes()))
    for (const each of await writePolicies(server, { ...domain, writes, cpuMs })) report({ ...common, ...each })
    await untilQuiet(server)
    report({ ...common, ...(await changeLabels(server, { ...domain, rounds })) })
  } finally {
    await server.stop()
    await postgres?.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

function report({ case: name, times, cpuMs, goalMs, ...about }) {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part) => round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))])
  const figures = { count: times.length, p50_ms: at(0.5), p99_ms: at(0.99), goal_ms: goalMs ?? null }
  const cpu = cpuMs === undefined ? null : round(cpuMs.reduce((sum, each) => sum + each, 0) / cpuMs.length)
  const record = { bench: 'policies', case: name, ...about, ...figures, cpu_ms: cpu, load_average: round(loadavg()[0]) }
  printTable(
    ['store', 'case', 'nodes', 'groups', 'count', 'p50 ms', 'p99 ms', 'goal ms', 'CPU ms'],
    [
      [
        about.store,
        name,
        about.nodes,
        about.groups,
        times.length,
        record.p50_ms,
        record.p99_ms,
        goalMs ?? '-',
        cpu ?? '-',
      ],
    ],
  )
  printRecord(record)
}

/** Creates the policies, then changes some of them once: the rules, or for every fifth one the selector. */
async function writePolicies(server, { id, writes, cpuMs }) {
  const policies = []
  for (let index = 0; index < POLICIES; index++) {
    const body = { slug: `bench-${index}`, ...policyOf(index) }
    policies.push(await callApi(server, 'POST', `/v1/domains/${id}/policies`, { body }))
  }
  const taken = { rules: nothing(), selector: nothing(), policy: nothing(), Domain: nothing() }
  const timed = async (name, path, body) => {
    const cpu = await cpuMs()
    const begin = performance.now()
    await callApi(server, 'PATCH', path, { body })
    taken[name].times.push(performance.now() - begin)
    taken[name].cpuMs.push((await cpuMs()) - cpu)
  }
  for (const [index, { id: policyId, rules, selector }] of policies.slice(0, writes).entries()) {
    const path = `/v1/policies/${policyId}`
    if (index % 5 === 0) await timed('selector', path, { selector: `${selector},env in (e0,e1,e2,e3)` })
    else await timed('rules', path, { rules: [...rules, extraRule(index)] })
    await timed('policy', path, { display_name: `Renamed ${index}` })
    await timed('Domain', `/v1/domains/${id}`, { display_name: `Bench ${index}` })
  }
  const { rules, selector, policy, Domain } = taken
  const both = { times: [...rules.times, ...selector.times], cpuMs: [...rules.cpuMs, ...selector.cpuMs] }
  return [
    { case: 'write', ...both, goalMs: WRITE_GOAL_MS },
    { case: 'write of rules', ...rules },
    { case: 'write of a selector', ...selector },
    { case: 'new name of a policy', ...policy },
    { case: 'new name of a Domain', ...Domain },
  ]
}

const nothing = () => ({ times: [], cpuMs: [] })

const extraRule = (index) => ({
  direction: 'ingress',
  cidrs: ['100.64.0.0/24'],
  protocol: 'udp',
  ports: [String(2_000 + index)],
})

/** Waits until nothing is on its way to a node: two readings in a row say so. */
async function untilQuiet(server) {
  const since = Date.now()
  for (let quiet = 0; quiet < 2; await sleep(500)) {
    const waiting = Object.entries(await readMetrics(server)).filter(
      ([name, value]) => /^(outbox|event_relay)_lag_rows/.test(name) && value > 0,
    )
    quiet = waiting.length === 0 ? quiet + 1 : 0
    if (Date.now() - since > 5 * WAIT_MS) throw new Error(`still on its way: ${JSON.stringify(waiting)}`)
  }
}

/**
 * Sets the label of the Project to one value and another by turns. Each time all of its nodes get the policy or lose it. Gives
 * when the last stream had its hint, for each change.
 */
async function changeLabels(server, { projectId, team, nodes, rounds }) {
  const readers = start('hint-readers.mjs', [])
  await nextMessage(readers)
  const ask = async (command, parameters) => {
    readers.send({ command, parameters })
    return (await nextMessage(readers)).result
  }
  await ask('open', { url: server.url, nodes })
  const [times, ofStreams] = [[], []]
  for (let index = 0; index < rounds; index++) {
    await ask('expect')
    const begin = performance.timeOrigin + performance.now()
    const body = { qualified_key: team, value: index % 2 === 0 ? 'a' : 'b' }
    await callApi(server, 'PUT', `/v1/objects/project/${projectId}/labels`, { body })
    const arrivals = await ask('arrivals', { withinMs: WAIT_MS })
    if (arrivals.length !== nodes.length) throw new Error(`${arrivals.length} of ${nodes.length} streams had a hint`)
    ofStreams.push(...arrivals.map((at) => at - begin))
    times.push(Math.max(...arrivals) - begin)
    await untilQuiet(server)
    await sleep(BETWEEN_HINTS_MS)
  }
  readers.kill('SIGTERM')
  const sorted = ofStreams.toSorted((a, b) => a - b)
  const streams = { concerned: nodes.length, stream_p50_ms: round(sorted[Math.floor(sorted.length / 2)]) }
  return { case: 'label, last stream', times, goalMs: LABEL_GOAL_MS, ...streams }
}

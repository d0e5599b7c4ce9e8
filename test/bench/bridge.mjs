// A bridge with 200 ingress rules and 50 tunnels on 100 hosts with open streams: how long a change of a tunnel takes to be
// answered and how much processor time it costs, and how long until the last host has its event. Beside it, in turns: a
// change of the display name of the bridge's resource, which has the same gate and no event for hosts. The validator is
// measured by itself. `--changes=N` of each; `--hosts=N`; `--embedded` or `--postgres` takes one store. A resource takes 64
// hosts through the API; their rows are added by themselves.
import { mkdtemp, readFile } from 'node:fs/promises'
import { once } from 'node:events'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { HIGH_RATE_LIMITS } from '../support/server/high-rate-limits.mjs'
import { startPostgresCluster } from '../support/datastores/postgres-cluster.mjs'
import { nextMessage, start } from './support/children.mjs'
import { cpuSecondsOf, familyOf } from './support/processes.mjs'
import { printRecord, printTable, round } from './support/report.mjs'
import { callApi, registerNodes } from './support/servers.mjs'

const [RULES, TUNNELS, HOSTS, CHANGES, WARM] = [200, 50, 100, 100, 10]
const CHANGE_GOAL_MS = 25
const EVENT_GOAL_MS = 1_000
const VALIDATOR_GOAL_MS = 1
const VALIDATIONS = 2_000
/** A change whose event has not reached every host by then has failed. */
const WAIT_MS = 60_000

export async function run(args) {
  const numberAfter = (name, fallback) =>
    Number(args.find((arg) => arg.startsWith(`${name}=`))?.slice(name.length + 1) ?? fallback)
  const sizes = { hosts: numberAfter('--hosts', HOSTS), changes: numberAfter('--changes', CHANGES) }
  await measureValidator()
  const stores = ['embedded', 'postgres'].filter((store) => args.includes(`--${store}`))
  for (const store of stores.length > 0 ? stores : ['embedded', 'postgres']) await runOn(store, sizes)
}

async function runOn(store, sizes) {
  const postgres = store === 'postgres' ? await startPostgresCluster() : undefined
  const directory = await mkdtemp(join(tmpdir(), 'ctl-bench-'))
  const plane = start('./relay-plane.mjs', [directory, ...(postgres ? [postgres.url] : [])], {
    env: { ...process.env, ...HIGH_RATE_LIMITS },
  })
  const { url } = await nextMessage(plane)
  const server = { url, token: (await readFile(join(directory, 'token'), 'utf8')).trim() }
  const ask = async (command, parameters) => {
    plane.send({ command, parameters })
    return (await nextMessage(plane)).result
  }
  const nodes = await registerNodes(server, sizes.hosts, { atOnce: 8 })
  const bridge = await arrange(server, { nodes, ask })
  // The database's own processes count.
  const pids = [...(await familyOf(plane.pid)), ...(postgres ? await familyOf(postgres.pid) : [])]
  await measureChanges({ server, bridge, nodes, store, pids, changes: sizes.changes })
  await ask('stop')
  await postgres?.stop()
}

const tunnelOf = (index, port = 51_820) => ({
  kind: 'wireguard',
  remote_host: `site-${index}.example.org`,
  remote_port: port,
  auth_secret_ref: `secret:__DOMAIN__/bench/site-${index}`,
  allowed_subnets: [`192.168.${index}.0/24`, `172.16.${index}.0/24`],
  routing_policy: 'bidirectional',
})

/** Makes the bridge without hosts, so that its parts send no events, then adds the hosts. */
async function arrange(server, { nodes, ask }) {
  const { domain_id: domainId } = await callApi(server, 'GET', '/v1/auth/whoami')
  const { slug } = await callApi(server, 'GET', `/v1/domains/${domainId}`)
  const named = { slug: 'bench', display_name: 'Bench' }
  const project = await callApi(server, 'POST', `/v1/domains/${domainId}/projects`, { body: named })
  const resourcePath = `/v1/projects/${project.id}/resources`
  const resource = await callApi(server, 'POST', resourcePath, { body: { kind: 'bridge', ...named } })
  const path = `${resourcePath}/${resource.id}`
  const ownTunnel = (index, port) => ({
    ...tunnelOf(index, port),
    auth_secret_ref: tunnelOf(index).auth_secret_ref.replace('__DOMAIN__', slug),
  })
  await callApi(server, 'PUT', `${path}/bridge/relay`, { body: { enabled: true, listen_port: 51_821 } })
  for (let index = 0; index < TUNNELS; index++)
    await callApi(server, 'POST', `${path}/bridge/site-to-site`, { body: { slug: `t-${index}`, ...ownTunnel(index) } })
  for (let index = 0; index < RULES; index++) {
    const target = { target_node_id: nodes[index % nodes.length].node_id, target_port: 8_000 + index }
    const body = { slug: `r-${index}`, sni_host: `app-${index}.example.org`, ...target }
    await callApi(server, 'POST', `${path}/bridge/ingress`, { body })
  }
  await ask('host', { resourceId: resource.id, nodeIds: nodes.map(({ node_id }) => node_id) })
  return { path, ownTunnel }
}

/** Changes the tunnel and, by turns, the name of the resource; each change waits for the events of the one before. */
async function measureChanges({ server, bridge: { path, ownTunnel }, nodes, store, pids, changes }) {
  const reader = start('./bridge-reader.mjs', [JSON.stringify({ url: server.url, nodes })])
  await nextMessage(reader)
  const taken = { change: newSeries(), baseline: newSeries() }
  const events = []
  let bytes = 0
  for (let index = -WARM; index < changes; index++) {
    const port = 20_000 + index + WARM
    reader.send(`"remote_port":${port},`)
    const begun = performance.timeOrigin + performance.now()
    const cpu = await cpuSecondsOf(pids)
    const change = await timed(() =>
      callApi(server, 'PATCH', `${path}/bridge/site-to-site/t-7`, { body: ownTunnel(7, port) }),
    )
    const received = await within(nextMessage(reader))
    await sleep(50)
    const cpuBetween = await cpuSecondsOf(pids)
    const baseline = await timed(() => callApi(server, 'PATCH', path, { body: { display_name: `Bench ${index}` } }))
    await sleep(50)
    if (index < 0) continue
    add(taken.change, change, cpuBetween - cpu)
    add(taken.baseline, baseline, (await cpuSecondsOf(pids)) - cpuBetween)
    events.push(Math.max(...received.arrivals) - begun)
    bytes = received.bytes
  }
  reader.kill('SIGTERM')
  await once(reader, 'exit')
  report({ store, hosts: nodes.length, bytes, taken, events })
}

const newSeries = () => ({ times: [], cpuMs: 0 })

function add(series, ms, cpuSeconds) {
  series.times.push(ms)
  series.cpuMs += cpuSeconds * 1_000
}

async function timed(call) {
  const begun = performance.now()
  await call()
  return performance.now() - begun
}

async function within(received) {
  const late = sleep(WAIT_MS, undefined, { ref: false }).then(() => {
    throw new Error('an event did not reach every host')
  })
  return Promise.race([received, late])
}

function report({ store, hosts, bytes, taken: { change, baseline }, events }) {
  const [changes, bare, arrived] = [figures(change.times), figures(baseline.times), figures(events)]
  const record = {
    bench: 'bridge',
    case: 'change',
    store,
    rules: RULES,
    tunnels: TUNNELS,
    hosts,
    event_bytes: bytes,
    changes: change.times.length,
    change_p50_ms: changes.p50,
    change_p99_ms: changes.p99,
    baseline_p50_ms: bare.p50,
    baseline_p99_ms: bare.p99,
    /** What a change costs more than the other one. */
    server_p50_ms: round(changes.p50 - bare.p50),
    server_p99_ms: round(changes.p99 - bare.p50),
    server_goal_p99_ms: CHANGE_GOAL_MS,
    all_hosts_p50_ms: arrived.p50,
    all_hosts_p99_ms: arrived.p99,
    all_hosts_goal_p99_ms: EVENT_GOAL_MS,
    change_cpu_ms: round(change.cpuMs / change.times.length),
    baseline_cpu_ms: round(baseline.cpuMs / baseline.times.length),
    load_average: round(loadavg()[0]),
  }
  const columns = [
    'store',
    'hosts',
    'change p50',
    'p99 ms',
    'baseline p50',
    'p99 ms',
    'server p99',
    'goal',
    'all hosts p50',
  ]
  printTable(
    [...columns, 'p99 ms', 'goal', 'load'],
    [
      [
        store,
        hosts,
        changes.p50,
        changes.p99,
        bare.p50,
        bare.p99,
        record.server_p99_ms,
        CHANGE_GOAL_MS,
        arrived.p50,
        arrived.p99,
        EVENT_GOAL_MS,
        record.load_average,
      ],
    ],
  )
  printRecord(record)
}

/** The validator alone, with a candidate in the place of one of the parts. */
async function measureValidator() {
  const { conflictsOf } = await import('../../dist/server/bridges/validate.js')
  const id = (index) => `018f0000-0000-7000-8000-${index.toString(16).padStart(12, '0')}`
  const bySlug = (a, b) => (a.slug < b.slug ? -1 : 1)
  const list = (count, make) => Array.from({ length: count }, (_, index) => make(index)).toSorted(bySlug)
  const tunnels = list(TUNNELS, (index) => {
    const { allowed_subnets: subnets, ...tunnel } = tunnelOf(index)
    const auth_secret_ref = `secret:home/bench/site-${index}`
    return { slug: `t-${index}`, ...tunnel, auth_secret_ref, allowed_subnets: subnets.toSorted() }
  })
  const rule = (index) => ({
    slug: `r-${index}`,
    sni_host: `app-${index}.example.org`,
    target_port: 8_000 + index,
    target_node_id: id(index % HOSTS),
    acme_account_ref: null,
  })
  const ingress = list(RULES, rule)
  const relay = { enabled: true, listen_port: 51_821 }
  const nodeIds = Array.from({ length: HOSTS }, (_, index) => id(index))
  const world = {
    domainSlug: 'home',
    projectSlug: 'bench',
    meshCidr: '100.64.0.0/10',
    hostIds: nodeIds,
    targetIds: new Set(nodeIds),
    parts: { relay, userAccess: [], ingress, tunnels },
  }
  const times = []
  for (let index = 0; index < VALIDATIONS; index++) {
    const candidate =
      index % 2 === 0
        ? { part: 'site-to-site', value: { ...tunnels[index % TUNNELS], remote_port: 1 + index } }
        : { part: 'ingress', value: { ...ingress[index % RULES], target_port: 20_000 + index } }
    const begun = performance.now()
    const found = conflictsOf(world, candidate)
    times.push(performance.now() - begun)
    if (found.length > 0) throw new Error(`the validator found ${JSON.stringify(found[0])}`)
  }
  const { p50, p99 } = figures(times.slice(VALIDATIONS / 10))
  printTable(['validator p50 ms', 'p99 ms', 'goal'], [[p50, p99, VALIDATOR_GOAL_MS]])
  printRecord({
    bench: 'bridge',
    case: 'validator',
    rules: RULES,
    tunnels: TUNNELS,
    p50_ms: p50,
    p99_ms: p99,
    goal_ms: VALIDATOR_GOAL_MS,
  })
}

function figures(times) {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part) => round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))])
  return { p50: at(0.5), p99: at(0.99) }
}

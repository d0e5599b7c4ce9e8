// One fleet lives by `peer_visibility: all`, then by `reachable`, then without anything but heartbeats and streams: what each
// costs. The nodes are in a ring of teams, and policies let each exchange packets with its own team and the two beside it: about
// 50 nodes. No other simulation reports beside it, unlike in the benchmark of sizes. Agents compare the keys of edges with nodes at most two places from them, which are among these.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgresCluster } from '../../support/datastores/postgres-cluster.mjs'
import { cpuSecondsOf, familyOf } from './processes.mjs'
import { printRecord, printTable, round } from './report.mjs'
import { callApi, memoryOf, startCtl } from './servers.mjs'
import { commandLines, flawsOf, flawsText, play, warmUpOf } from './simulations.mjs'

/** Nodes of a team. Each node sees three teams but for itself. */
const TEAM = 17
/** Teams that share a policy: a Domain has at most 256. */
const TEAMS_OF_POLICY = 2
const LABELLING = 8
/** Time for what a start and the change of the setting bring: each agent pulls, fetches keys, and reports what it knows. */
const SWITCH_S = 120
const GOAL = 1 / 3
const MODES = ['all', 'reachable', 'no mesh']
const HEADER =
  'store|nodes|visibility|peers|server cores|datastore cores|CPU ms/node/min|of all|goal|above no mesh, of all|events/s|pulls|flaws|agents cores|server MB'

/** Measures the fleet on a new store, and prints what it costs by each. */
export async function compareVisibilities({ store, nodes, minutes }) {
  const directory = await mkdtemp(join(tmpdir(), 'ctl-bench-'))
  const postgres = store === 'postgres' ? await startPostgresCluster({ collation: ['--locale=C'] }) : undefined
  const server = await startCtl({ databaseUrl: postgres?.url })
  try {
    const lines = await commandLines(server, { directory, nodes })
    const fleet = [...lines.fleet, '--state-dir', join(directory, 'fleet')]
    await play([...fleet, '--no-mesh', '--no-events', '--duration', '1s'])
    const identities = JSON.parse(await readFile(join(directory, 'fleet', 'fleet.json'), 'utf8')).nodes
    await arrange(server, identities)
    const scene = { server, postgres, nodes, fleet, identities, seconds: minutes * 60 }
    const measured = { ...(await liveByBoth(scene)), 'no mesh': await liveWithoutMesh(scene) }
    report({ store, nodes, minutes, measured })
  } finally {
    await server.stop()
    await postgres?.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

/** Labels each node with its team by its place in the simulation, and adds the policies. */
async function arrange(server, identities) {
  const { domain_id: id } = await callApi(server, 'GET', '/v1/auth/whoami')
  const body = { scope: `domain:${id}`, local_key: 'team', value_schema: { type: 'integer' } }
  const { qualified_key } = await callApi(server, 'POST', '/v1/label-definitions', { body })
  const policies = Math.round(identities.length / (TEAM * TEAMS_OF_POLICY))
  const teams = policies * TEAMS_OF_POLICY
  const waiting = identities.entries()
  const labelSome = async () => {
    for (const [place, { node_id }] of waiting) {
      const label = { qualified_key, value: Math.floor((place * teams) / identities.length) }
      await callApi(server, 'PUT', `/v1/objects/node/${node_id}/labels`, { body: label })
    }
  }
  await Promise.all(Array.from({ length: LABELLING }, labelSome))
  for (let index = 0; index < policies; index++) {
    const own = Array.from({ length: TEAMS_OF_POLICY }, (_, place) => index * TEAMS_OF_POLICY + place)
    const beside = [own[0] + teams - 1, own.at(-1) + 1].map((team) => team % teams)
    const peers = `team in (${[...own, ...beside].join()})`
    const rules = ['ingress', 'egress'].map((direction) => ({ direction, peers, protocol: 'tcp', ports: ['5432'] }))
    const policy = { slug: `teams-${index}`, selector: `team in (${own.join()})`, rules }
    await callApi(server, 'POST', `/v1/domains/${id}/policies`, { body: policy })
  }
}

/** The same agents live by `all` and, once they have pulled again, by `reachable`. */
async function liveByBoth({ server, postgres, nodes, fleet, identities, seconds }) {
  const { domain_id: domainId } = await callApi(server, 'GET', '/v1/auth/whoami')
  const first = warmUpOf(nodes) + SWITCH_S
  const second = first + seconds + SWITCH_S
  const [all, reachable] = [{ standing: [] }, { standing: [] }]
  let switched
  const measure = async (mode, { progress, pid }) => {
    mode.peers ??= await peersOf(server, identities[0])
    mode.standing.push(await standingOf({ server, postgres, pid, progress }))
  }
  const observe = async (progress, pid) => {
    const { phase, elapsed_seconds: elapsed } = progress
    if (phase !== 'running' || elapsed < first) return
    if (elapsed <= first + seconds) return measure(all, { progress, pid })
    switched ??= callApi(server, 'PATCH', `/v1/domains/${domainId}`, { body: { peer_visibility: 'reachable' } })
    await switched
    if (elapsed >= second) await measure(reachable, { progress, pid })
  }
  const living = await play([...fleet, '--duration', `${second + seconds}s`, '--warm-up', `${first}s`], observe)
  const flaws = flawsOf([living.summary])
  return { all: { ...all, flaws }, reachable: { ...reachable, flaws } }
}

/** Heartbeats and streams alone, which cost the same with any visibility. */
async function liveWithoutMesh({ server, postgres, fleet, seconds }) {
  const mode = { standing: [], peers: 0 }
  const observe = async (progress, pid) => {
    if (progress.phase !== 'running' || progress.elapsed_seconds < SWITCH_S) return
    mode.standing.push(await standingOf({ server, postgres, pid, progress }))
  }
  const times = ['--duration', `${SWITCH_S + seconds}s`, '--warm-up', `${SWITCH_S}s`]
  const { summary } = await play([...fleet, '--no-mesh', ...times], observe)
  return { ...mode, flaws: flawsOf([summary]) }
}

async function standingOf({ server, postgres, pid, progress }) {
  return {
    at: performance.now(),
    server: await cpuSecondsOf([server.pid]),
    datastore: postgres === undefined ? 0 : await cpuSecondsOf(await familyOf(postgres.pid)),
    agents: await cpuSecondsOf([pid]),
    memoryMb: (await memoryOf(server.pid)).nowMb,
    events: progress.events,
    pulls: progress.latency.state_pull?.count ?? 0,
  }
}

/** How many peers the state of a node has. */
async function peersOf(server, { node_id, nsk }) {
  const { peers } = await callApi(server, 'GET', `/v1/nodes/${node_id}/state`, { token: nsk })
  return peers.length
}

function report({ store, nodes, minutes, measured }) {
  const records = MODES.map((visibility) => ({ visibility, ...costOf(measured[visibility], nodes) }))
  const [all, , bare] = records
  for (const record of records) {
    const { cpu_ms_per_node_minute: cost } = record
    record.of_all = round(cost / all.cpu_ms_per_node_minute)
    record.above_no_mesh_of_all = round(
      (cost - bare.cpu_ms_per_node_minute) / (all.cpu_ms_per_node_minute - bare.cpu_ms_per_node_minute),
    )
  }
  const rows = records.map((record) => [
    store,
    nodes,
    record.visibility,
    record.peers,
    record.server_cores,
    record.datastore_cores,
    record.cpu_ms_per_node_minute,
    record.of_all,
    record.visibility === 'reachable' ? `<= ${round(GOAL)}` : '',
    record.above_no_mesh_of_all,
    record.events_per_second,
    record.pulls,
    flawsText(record.flaws),
    record.agents_cores,
    record.server_mb,
  ])
  printTable(HEADER.split('|'), rows)
  for (const record of records) printRecord({ bench: 'fleet', case: 'visibility', store, nodes, minutes, ...record })
}

function costOf({ standing, peers, flaws }, nodes) {
  const [first, last] = [standing[0], standing.at(-1)]
  const seconds = (last.at - first.at) / 1000
  const cores = (member) => (last[member] - first[member]) / seconds
  return {
    peers,
    server_cores: round(cores('server')),
    datastore_cores: round(cores('datastore')),
    cpu_ms_per_node_minute: round(((cores('server') + cores('datastore')) * 60_000) / nodes),
    events_per_second: round((last.events - first.events) / seconds),
    pulls: last.pulls - first.pulls,
    flaws,
    agents_cores: round(cores('agents')),
    server_mb: last.memoryMb,
    load_average: round(loadavg()[0]),
  }
}

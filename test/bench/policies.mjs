// A Domain of ten thousand nodes with a hundred policies and five hundred groups, on PostgreSQL: how long a write of a policy
// takes to be answered, with the tests of all policies, and a change of a label until the stream has the hint of every node
// that it concerns. Beside the writes: a change of the Domain's display name, the write of one row. `--nodes=N` takes another number of nodes, `--rounds=N` of
// changes of labels.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startPostgresCluster } from '../support/datastores/postgres-cluster.mjs'
import { printRecord, printTable, round } from './support/report.mjs'
import { callApi, startCtl } from './support/servers.mjs'

const NODES = 10_000
const POLICIES = 100
const ROLES = 50
const ENVS = 5
const ZONES = 4
/** Nodes of the Project whose label changes. */
const CONCERNED = 1_000
const ROUNDS = 10
const WRITE_GOAL_MS = 1_000
const LABEL_GOAL_MS = 2_000
const POLL_MS = 20
/** A change of which some node is not told by then has failed. */
const WAIT_MS = 60_000

export async function run(args) {
  const numberAfter = (name, fallback) =>
    Number(args.find((arg) => arg.startsWith(`${name}=`))?.slice(name.length + 1) ?? fallback)
  const [nodes, rounds] = [numberAfter('--nodes', NODES), numberAfter('--rounds', ROUNDS)]
  const postgres = await startPostgresCluster({ collation: ['--locale=C'] })
  const server = await startCtl({ databaseUrl: postgres.url })
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  const domain = await arrange(server, client, nodes)
  const writes = await writePolicies(server, domain)
  const groups = Number((await client.query('select count(*) from policy_groups')).rows[0].count)
  report({ case: 'write', nodes, groups, ...writes, goal_ms: WRITE_GOAL_MS })
  await untilQuiet(client)
  const labels = await changeLabels(server, client, { ...domain, rounds })
  report({
    case: 'label',
    nodes,
    groups,
    concerned: labels.concerned,
    ...figures(labels.times),
    goal_ms: LABEL_GOAL_MS,
  })
  await client.end()
  await server.stop()
  await postgres.stop()
}

function report(record) {
  const { case: name, nodes, groups, count, p50_ms, p99_ms, baseline_p50_ms = '', goal_ms } = record
  printTable(
    ['case', 'nodes', 'groups', 'count', 'p50 ms', 'p99 ms', 'baseline p50 ms', 'goal ms'],
    [[name, nodes, groups, count, p50_ms, p99_ms, baseline_p50_ms, goal_ms]],
  )
  printRecord({ bench: 'policies', ...record })
}

function figures(times) {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part) => round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))])
  return { count: times.length, p50_ms: at(0.5), p99_ms: at(0.99) }
}

/** Adds the nodes by their rows, as registrations and the relay leave them, with their labels. */
async function arrange(server, client, nodes) {
  const { domain_id: id } = await callApi(server, 'GET', '/v1/auth/whoami')
  const project = await callApi(server, 'POST', `/v1/domains/${id}/projects`, {
    body: { slug: 'bench', display_name: 'Bench' },
  })
  const definitions = {}
  for (const key of ['role', 'env', 'zone', 'team']) {
    const body = { scope: `domain:${id}`, local_key: key, value_schema: { type: 'string' }, inherit: key === 'team' }
    definitions[key] = await callApi(server, 'POST', '/v1/label-definitions', { body })
  }
  await client.query(
    `insert into nodes (
       id, domain_id, project_id, name, kind, public_key, mesh_address, psk_sealed, psk_issued_at, labels, ephemeral,
       created_at, updated_at
     )
     select gen_random_uuid(), $1, case when n <= $3 then $2::uuid end, 'n' || n, 'worker',
       decode(lpad(to_hex(n), 64, '0'), 'hex'), '100.64.0.0'::inet + n, '', 0, '{}', false, now(), now()
     from generate_series(1, $4::integer) as n`,
    [id, project.id, CONCERNED, nodes],
  )
  await client.query('insert into node_heartbeats (node_id, created_at) select id, now() from nodes')
  await client.query(
    `insert into node_lanes (node_id, domain_id, hinted_seq, hinted_at)
     select id, domain_id, (select seq from outbox_head), to_timestamp(0) from nodes`,
  )
  const values = {
    role: `'r' || (n % ${ROLES})`,
    env: `'e' || (n / ${ROLES} % ${ENVS})`,
    zone: `'z' || (n / ${ROLES * ENVS} % ${ZONES})`,
  }
  for (const [key, value] of Object.entries(values)) {
    await client.query(
      `insert into label_assignments (
         kind, object_id, qualified_key, definition_id, value, value_type, assigned_by, created_at, updated_at
       )
       select 'node', id, $1, $2, ${value}, 'string', 'user:bench', now(), now()
       from (select id, substr(name, 2)::integer as n from nodes where domain_id = $3) as node`,
      [definitions[key].qualified_key, definitions[key].id, id],
    )
  }
  await client.query('analyze')
  return { id, project: project.id, team: definitions.team.qualified_key }
}

/** Five peer selectors for each policy, all different. */
function peersOf(index) {
  const role = `role=r${index % ROLES}`
  if (index < ROLES) return Array.from({ length: ENVS }, (_, env) => `${role},env=e${env}`)
  return [role, ...Array.from({ length: ZONES }, (_, zone) => `${role},zone=z${zone}`)]
}

function policyOf(index) {
  const rules = peersOf(index).map((peers, place) => ({
    direction: 'ingress',
    peers,
    protocol: 'tcp',
    ports: [String(1_000 + index * 10 + place)],
  }))
  const role = (index + 1) % ROLES
  const expected = { from: `role=r${index % ROLES},env=e0`, to: `role=r${role},env=e0`, protocol: 'tcp' }
  const tests = index < ROLES ? [{ ...expected, port: 1_000 + index * 10, expect: 'allowed' }] : []
  return { selector: index === POLICIES - 1 ? 'team=a' : `role=r${role}`, rules, tests }
}

/** Creates the policies, then changes each of them once: its ports, or for every fifth one its selector. */
async function writePolicies(server, { id }) {
  const policies = []
  const timed = async (call) => {
    const begin = performance.now()
    const answer = await call()
    return [performance.now() - begin, answer]
  }
  for (let index = 0; index < POLICIES; index++) {
    const body = { slug: `bench-${index}`, ...policyOf(index) }
    const [, policy] = await timed(() => callApi(server, 'POST', `/v1/domains/${id}/policies`, { body }))
    policies.push(policy)
  }
  const [times, baseline] = [[], []]
  for (const [index, { id: policyId, rules, selector }] of policies.entries()) {
    const isSelector = index % 5 === 0
    const body = isSelector ? { selector: `${selector},env in (e0,e1,e2,e3)` } : { rules: [...rules, extraRule(index)] }
    const [ms] = await timed(() => callApi(server, 'PATCH', `/v1/policies/${policyId}`, { body }))
    times.push(ms)
    const name = { display_name: `Bench ${index}` }
    const [bare] = await timed(() => callApi(server, 'PATCH', `/v1/domains/${id}`, { body: name }))
    baseline.push(bare)
  }
  return { ...figures(times), baseline_p50_ms: figures(baseline).p50_ms }
}

const extraRule = (index) => ({
  direction: 'ingress',
  cidrs: ['100.64.0.0/24'],
  protocol: 'udp',
  ports: [String(2_000 + index)],
})

/** Waits until nothing is on its way to a node. */
async function untilQuiet(client) {
  for (let since = Date.now(); ; await sleep(500)) {
    const { rows } = await client.query(
      `select (select count(*) from outbox where seq is null) + (select count(*) from outgoing_events)
         + (select count(*) from peer_hints) + (select count(*) from node_hints) as waiting,
         (select min(h.seq - c.seq) from outbox_head as h, outbox_consumers as c) as behind`,
    )
    if (Number(rows[0].waiting) === 0 && Number(rows[0].behind) === 0) return
    if (Date.now() - since > 5 * WAIT_MS) throw new Error(`still on its way: ${JSON.stringify(rows[0])}`)
  }
}

/** Sets and removes the label of a Project by turns. Each time, all of its nodes get the policy or lose it. */
async function changeLabels(server, client, { project, team, rounds }) {
  const { rows } = await client.query('select count(*) from nodes where project_id = $1', [project])
  const concerned = Number(rows[0].count)
  const times = []
  for (let index = 0; index < rounds; index++) {
    const { rows: head } = await client.query('select seq from event_log_head')
    const begin = performance.now()
    const body = { qualified_key: team, value: index % 2 === 0 ? 'a' : 'b' }
    await callApi(server, 'PUT', `/v1/objects/project/${project}/labels`, { body })
    await untilTold(client, { project, after: head[0].seq, concerned, begin })
    times.push(performance.now() - begin)
    await untilQuiet(client)
    // The next hint of a node waits for a second.
    await sleep(1_100)
  }
  return { concerned, times }
}

async function untilTold(client, { project, after, concerned, begin }) {
  for (;;) {
    const { rows } = await client.query(
      `select count(distinct told.node_id) from event_log as told join nodes on nodes.id = told.node_id
       where told.seq > $1 and nodes.project_id = $2`,
      [after, project],
    )
    if (Number(rows[0].count) === concerned) return
    if (performance.now() - begin > WAIT_MS) throw new Error(`only ${rows[0].count} of ${concerned} nodes were told`)
    await sleep(POLL_MS)
  }
}

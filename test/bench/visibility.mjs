// What a pull costs where nodes see 50 of 10,000 peers (`peer_visibility: reachable`), beside `all`: 100 policies, 500 groups,
// PostgreSQL. A tenth of the nodes pulls. `--nodes=N` takes another number.
import { Agent, request } from 'node:http'
import { loadavg } from 'node:os'
import pg from 'pg'
import { startPostgresCluster } from '../support/datastores/postgres-cluster.mjs'
import { cpuSecondsOf } from './support/processes.mjs'
import { printRecord, printTable, round } from './support/report.mjs'
import { callApi, memoryOf, registerNodes, startCtl } from './support/servers.mjs'

const NODES = 10_000
/** Nodes that register, and pull; the others are rows. */
const REGISTERED = 1_000
/** Registrations at once: those of one Domain wait for each other. */
const REGISTERING = 4
const TEAM = 100
const OTHER_GROUPS = 300
const ROLES = 3
const CONNECTIONS = 16
const PULLS = 2_000
const BYTES_GOAL = 40 * 1024

export async function run(args) {
  const count = Number(args.find((arg) => arg.startsWith('--nodes='))?.slice('--nodes='.length) ?? NODES)
  const postgres = await startPostgresCluster({ collation: ['--locale=C'] })
  const server = await startCtl({ databaseUrl: postgres.url })
  const client = new pg.Client({ connectionString: postgres.url })
  try {
    await client.connect()
    const nodes = await registerNodes(server, Math.min(count, REGISTERED), { atOnce: REGISTERING })
    const { domain_id: domainId } = await callApi(server, 'GET', '/v1/auth/whoami')
    await fill(client, domainId, count)
    const show = (peer_visibility) => callApi(server, 'PATCH', `/v1/domains/${domainId}`, { body: { peer_visibility } })
    const all = await measure(server, nodes, Math.min(PULLS, 300))
    await show('reachable')
    const reachable = await measure(server, nodes, PULLS)
    const changed = await afterChange(server, client, { domainId, nodes })
    const memory = await memoryOf(server.pid)
    print({ count, all, reachable, changed, memory })
  } finally {
    await client.end()
    await server.stop()
    await postgres.stop()
  }
}

/** Teams of 100 nodes, each closed but for flows from its first half to its second one; every node is in another group too. */
async function fill(client, domainId, count) {
  await client.query(
    `insert into nodes (id, domain_id, name, kind, public_key, mesh_address, psk_sealed, psk_issued_at, labels, ephemeral,
       created_at, updated_at)
     select gen_random_uuid(), $1, 'bench-' || n, 'vm', decode(md5(n::text) || md5(n::text), 'hex'),
       '100.100.0.0'::inet + n, '\\x00', 1760000000000000000 + n, '{}', false, now(), now()
     from generate_series($2::int, $3::int - 1) as n`,
    [domainId, Math.min(count, REGISTERED), count],
  )
  await client.query(
    `insert into node_heartbeats (node_id, created_at) select id, now() from nodes where domain_id = $1
     on conflict do nothing`,
    [domainId],
  )
  await client.query(
    `update nodes set policy_groups =
       array[1 + 2 * (n / $2::int) + n % 2, 201 + (3 * (n / $2::int) + n % $3::int + 150) % $4::int]
     from (select id, substr(name, 7)::int as n from nodes) as numbered
     where nodes.id = numbered.id and domain_id = $1`,
    [domainId, TEAM, ROLES, OTHER_GROUPS],
  )
  await client.query(
    `insert into node_endpoints (node_id, domain_id, last_endpoint, last_endpoint_port, nat_type, last_endpoint_reported_at)
     select id, domain_id, '198.51.100.' || (substr(name, 7)::int % 250), 51820, 'cone', now() from nodes
     where domain_id = $1`,
    [domainId],
  )
  const { rows } = await client.query('select count(*)::int as count from nodes where domain_id = $1', [domainId])
  for (let team = 0; team * TEAM < rows[0].count; team++) await addPolicy(client, domainId, team)
  await client.query('update domain_peers set revision = revision + 1, whole_revision = revision + 1')
  await client.query('analyze')
}

async function addPolicy(client, domainId, team) {
  const [from, to] = [1 + 2 * team, 2 + 2 * team]
  const others = [0, 1, 2].map((index) => 201 + ((3 * team + index) % OTHER_GROUPS)).toSorted((a, b) => a - b)
  const rule = (direction, group) =>
    `{"action":"accept","cidrs":[],"direction":"${direction}","except_cidrs":[],"except_groups":[${others.join()}],"groups":[${group}],"ports":[[5432,5432]],"protocol":"tcp"}`
  const rules = `[${rule('egress', to)},${rule('ingress', from)},{"action":"isolate","direction":"egress"},{"action":"isolate","direction":"ingress"}]`
  const { rows } = await client.query(
    `insert into policies (id, domain_id, slug, revision_id, applied_revision_id, created_at, updated_at)
     select gen_random_uuid(), $1, $2, r, r, now(), now() from gen_random_uuid() as r returning id, revision_id`,
    [domainId, `team-${team}`],
  )
  const [{ id, revision_id: revisionId }] = rows
  await client.query(
    `insert into policy_revisions (id, policy_id, domain_id, number, display_name, selector, document, rules, fingerprint,
       created_by, created_at)
     values ($1, $2, $3, 1, '', '*', '{"selector":"*","rules":[],"tests":[]}', $4, '', 'user:somebody', now())`,
    [revisionId, id, domainId, rules],
  )
  await client.query(
    `insert into policy_matches (policy_id, node_id) select $1, id from nodes
     where domain_id = $2 and substr(name, 7)::int / $3::int = $4::int`,
    [id, domainId, TEAM, team],
  )
}

/** The first pull, which reads everything, then pulls of many nodes, then conditional ones that are answered 304. */
async function measure(server, nodes, pulls) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const startedAt = performance.now()
  const first = await pull(server, agent, nodes[0])
  const firstMs = performance.now() - startedAt
  const some = Array.from({ length: pulls }, (_, index) => nodes[(index * 37) % nodes.length])
  const tags = new Map()
  const whole = await timed(server, some, async (node) => {
    const answer = await pull(server, agent, node)
    tags.set(node, answer.etag)
    return answer.status === 200
  })
  const same = await timed(
    server,
    some,
    async (node) => (await pull(server, agent, node, tags.get(node))).status === 304,
  )
  agent.destroy()
  return { firstMs, bytes: first.bytes, peers: first.peers, whole, same }
}

/** After an endpoint of one node changed: the next pull of a node that sees it, and of one that does not. */
async function afterChange(server, client, { domainId, nodes }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const byName = await client.query('select id from nodes where domain_id = $1 order by substr(name, 7)::int', [
    domainId,
  ])
  const [moved, viewer] = byName.rows.map(({ id }) => nodes.find((node) => node.node_id === id))
  const last = byName.rows.findLast(({ id }) => nodes.some((node) => node.node_id === id))
  const stranger = nodes.find((node) => node.node_id === last.id)
  const before = await pull(server, agent, stranger)
  await client.query('begin')
  const { rows } = await client.query(
    'update domain_peers set revision = revision + 1 where domain_id = $1 returning revision',
    [domainId],
  )
  await client.query('update nodes set peer_revision = $2 where id = $1', [moved.node_id, rows[0].revision])
  await client.query('update node_endpoints set last_endpoint_port = 1 where node_id = $1', [moved.node_id])
  await client.query('commit')
  const startedAt = performance.now()
  const unchanged = await pull(server, agent, stranger, before.etag)
  const refreshMs = performance.now() - startedAt
  const seen = await pull(server, agent, viewer)
  agent.destroy()
  return { refreshMs, strangerStatus: unchanged.status, isSeen: seen.text.includes(':1","groups"') }
}

/** Does it for each, so many at a time. */
async function timed(server, nodes, does) {
  const cpuBefore = await cpuSecondsOf([server.pid])
  const startedAt = performance.now()
  const latencies = []
  let failures = 0
  let next = 0
  const work = async () => {
    while (next < nodes.length) {
      const node = nodes[next++]
      const sentAt = performance.now()
      if (!(await does(node))) failures += 1
      latencies.push(performance.now() - sentAt)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, work))
  const seconds = (performance.now() - startedAt) / 1000
  const cpuMs = ((await cpuSecondsOf([server.pid])) - cpuBefore) * 1000
  const sorted = latencies.toSorted((a, b) => a - b)
  return {
    perSecond: nodes.length / seconds,
    cpuMs: cpuMs / nodes.length,
    p50Ms: sorted[Math.ceil(0.5 * sorted.length) - 1],
    p99Ms: sorted[Math.ceil(0.99 * sorted.length) - 1],
    failures,
  }
}

function pull(server, agent, { node_id: id, nsk }, etag) {
  const headers = { authorization: `Bearer ${nsk}`, ...(etag !== undefined && { 'if-none-match': etag }) }
  return new Promise((resolve, reject) => {
    const sent = request(`${server.url}/v1/nodes/${id}/state`, { agent, headers }, (response) => {
      const chunks = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const peers = text.split('"mesh_address"').length - 1
        resolve({
          status: response.statusCode,
          etag: response.headers.etag,
          bytes: Buffer.byteLength(text),
          peers,
          text,
        })
      })
    })
    sent.on('error', reject)
    sent.end()
  })
}

function print({ count, all, reachable, changed, memory }) {
  const record = {
    bench: 'visibility',
    nodes: count,
    all: figuresOf(all),
    reachable: figuresOf(reachable),
    bytes_goal: BYTES_GOAL,
    refresh_ms: round(changed.refreshMs),
    stranger_status: changed.strangerStatus,
    change_is_seen: changed.isSeen,
    rss_peak_mb: memory.peakMb,
    load_average: round(loadavg()[0]),
  }
  printTable(
    ['peers', 'bytes', 'first ms', 'pulls/s', 'p99 ms', 'CPU ms', '304/s', 'p99 ms', 'CPU ms', 'failures'],
    [record.all, record.reachable].map((of) => [
      of.peers,
      of.bytes,
      of.first_ms,
      of.pulls_per_second,
      of.pull_p99_ms,
      of.pull_cpu_ms,
      of.same_per_second,
      of.same_p99_ms,
      of.same_cpu_ms,
      of.failures,
    ]),
  )
  printRecord(record)
}

function figuresOf({ firstMs, bytes, peers, whole, same }) {
  return {
    peers,
    bytes,
    first_ms: round(firstMs),
    pulls_per_second: round(whole.perSecond),
    pull_p99_ms: round(whole.p99Ms),
    pull_cpu_ms: round(whole.cpuMs),
    same_per_second: round(same.perSecond),
    same_p99_ms: round(same.p99Ms),
    same_cpu_ms: round(same.cpuMs),
    failures: whole.failures + same.failures,
  }
}

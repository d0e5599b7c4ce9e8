// What a pull costs where nodes see 50 of 10,000 peers (`peer_visibility: reachable`), beside `all`: 100 policies, 500 groups,
// PostgreSQL. The nodes are rows without keys, so an operator pulls for them: the answer is the same. `--nodes=N` takes
// another number.
import { Agent, request } from 'node:http'
import { loadavg } from 'node:os'
import pg from 'pg'
import { startPostgresCluster } from '../support/datastores/postgres-cluster.mjs'
import { cpuSecondsOf } from './support/processes.mjs'
import { printRecord, printTable, round } from './support/report.mjs'
import { callApi, memoryOf, startCtl } from './support/servers.mjs'

const NODES = 10_000
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
    const domain = await callApi(server, 'POST', '/v1/domains', {
      token: server.token,
      body: { slug: 'large', display_name: 'Large' },
    })
    const ids = await fill(client, domain.id, count)
    const show = (peer_visibility) =>
      callApi(server, 'PATCH', `/v1/domains/${domain.id}`, { token: server.token, body: { peer_visibility } })
    const all = await measure(server, ids, Math.min(PULLS, 300))
    await show('reachable')
    const reachable = await measure(server, ids, PULLS)
    await client.query('select pg_sleep(0.2)')
    const changed = await afterChange(server, client, { domainId: domain.id, ids })
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
       policy_groups, created_at, updated_at)
     select gen_random_uuid(), $1, 'n-' || n, 'vm', decode(md5(n::text) || md5(n::text), 'hex'),
       '100.64.0.0'::inet + n + 1, '\\x00', 1760000000000000000 + n, '{}', false,
       array[1 + 2 * (n / $3::int) + n % 2, 201 + (3 * (n / $3::int) + n % $4::int + 150) % $5::int], now(), now()
     from generate_series(0, $2::int - 1) as n`,
    [domainId, count, TEAM, ROLES, OTHER_GROUPS],
  )
  await client.query(
    `insert into node_heartbeats (node_id, created_at) select id, now() from nodes where domain_id = $1`,
    [domainId],
  )
  await client.query(
    `insert into node_endpoints (node_id, domain_id, last_endpoint, last_endpoint_port, nat_type, last_endpoint_reported_at)
     select id, domain_id, '198.51.100.' || (substr(name, 3)::int % 250), 51820, 'cone', now() from nodes where domain_id = $1`,
    [domainId],
  )
  for (let team = 0; team * TEAM < count; team++) await addPolicy(client, domainId, team)
  await client.query(
    'insert into domain_peers (domain_id, revision, whole_revision) values ($1, 1, 1) on conflict do nothing',
    [domainId],
  )
  await client.query('analyze')
  const { rows } = await client.query('select id from nodes where domain_id = $1 order by name', [domainId])
  return rows.map(({ id }) => id)
}

async function addPolicy(client, domainId, team) {
  const [from, to] = [1 + 2 * team, 2 + 2 * team]
  const others = [0, 1, 2].map((index) => 201 + ((3 * team + index) % OTHER_GROUPS)).toSorted((a, b) => a - b)
  const rule = (direction, group) =>
    `{"action":"accept","cidrs":[],"direction":"${direction}","except_cidrs":[],"except_groups":[${others}],"groups":[${group}],"ports":[[5432,5432]],"protocol":"tcp"}`
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
     where domain_id = $2 and substr(name, 3)::int / $3::int = $4::int`,
    [id, domainId, TEAM, team],
  )
}

/** The first pull, which reads everything, then pulls of many nodes, then conditional ones that are answered 304. */
async function measure(server, ids, pulls) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const startedAt = performance.now()
  const first = await pull(server, agent, { id: ids[0] })
  const firstMs = performance.now() - startedAt
  const some = Array.from({ length: pulls }, (_, index) => ids[(index * 37) % ids.length])
  const tags = new Map()
  const whole = await timed(server, some, async (id) => {
    const answer = await pull(server, agent, { id })
    tags.set(id, answer.etag)
    return answer.status === 200
  })
  const same = await timed(
    server,
    some,
    async (id) => (await pull(server, agent, { id, etag: tags.get(id) })).status === 304,
  )
  agent.destroy()
  return { firstMs, bytes: first.bytes, peers: first.peers, whole, same }
}

/** After an endpoint of one node changed: the next pull of a node that sees it, and of one that does not. */
async function afterChange(server, client, { domainId, ids }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const [viewer, stranger] = [ids[1], ids.at(-1)]
  const before = await pull(server, agent, { id: stranger })
  await client.query('begin')
  const { rows } = await client.query(
    'update domain_peers set revision = revision + 1 where domain_id = $1 returning revision',
    [domainId],
  )
  await client.query('update nodes set peer_revision = $2 where id = $1', [ids[0], rows[0].revision])
  await client.query('update node_endpoints set last_endpoint_port = 1 where node_id = $1', [ids[0]])
  await client.query('commit')
  const startedAt = performance.now()
  const unchanged = await pull(server, agent, { id: stranger, etag: before.etag })
  const refreshMs = performance.now() - startedAt
  const seen = await pull(server, agent, { id: viewer })
  agent.destroy()
  return { refreshMs, strangerStatus: unchanged.status, isSeen: seen.text.includes(':1"') }
}

/** Does it for each, so many at a time. */
async function timed(server, ids, does) {
  const cpuBefore = await cpuSecondsOf([server.pid])
  const startedAt = performance.now()
  const latencies = []
  let failures = 0
  let next = 0
  const work = async () => {
    while (next < ids.length) {
      const id = ids[next++]
      const sentAt = performance.now()
      if (!(await does(id))) failures += 1
      latencies.push(performance.now() - sentAt)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, work))
  const seconds = (performance.now() - startedAt) / 1000
  const cpuMs = ((await cpuSecondsOf([server.pid])) - cpuBefore) * 1000
  const sorted = latencies.toSorted((a, b) => a - b)
  return {
    perSecond: ids.length / seconds,
    cpuMs: cpuMs / ids.length,
    p50Ms: sorted[Math.ceil(0.5 * sorted.length) - 1],
    p99Ms: sorted[Math.ceil(0.99 * sorted.length) - 1],
    failures,
  }
}

function pull(server, agent, { id, etag }) {
  const headers = { authorization: `Bearer ${server.token}`, ...(etag !== undefined && { 'if-none-match': etag }) }
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

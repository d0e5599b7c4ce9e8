// How soon a server is ready over a datastore that is full: 1,000,000 tuples and 100,000 nodes on PostgreSQL, at the first start, which
// builds the index of tuples, and at later ones, which find it kept; and how soon a second server knows a write of the first.
// `--tuples=N`, `--nodes=N` take other sizes.
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startPostgresCluster } from '../support/datastores/postgres-cluster.mjs'
import { median, printRecord, printTable, round } from './support/report.mjs'
import { callApi, memoryOf, registerNodes, startCtl } from './support/servers.mjs'

const DEFAULTS = { tuples: 1_000_000, nodes: 100_000 }
const GOALS = { readyMs: 3_000, keptIndexMs: 15_000, visibleMs: 50, elsewhereMs: 1_000 }
/** Starts with a kept index, and writes that are looked for. */
const [STARTS, WRITES] = [5, 50]
/** Members of each group, and groups of each user, by which the tuples are made. */
const MEMBERS = 1_000

export async function run(args) {
  const value = (name) =>
    Number(args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? DEFAULTS[name])
  const sizes = { tuples: value('tuples'), nodes: value('nodes') }
  const directory = await mkdtemp(join(tmpdir(), 'ctl-bench-'))
  const postgres = await startPostgresCluster({
    collation: ['--locale=C'],
    settings: ['shared_buffers=512MB', 'max_wal_size=4GB'],
  })
  try {
    const record = await measure({ postgres, directory, ...sizes })
    printTable(['what', 'measured', 'goal'], rowsOf(record))
    printRecord(record)
  } finally {
    await postgres.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

async function measure({ postgres, directory, tuples, nodes }) {
  const start = () => startReady({ databaseUrl: postgres.url, directory })
  const made = await start()
  const { token } = made.server
  const [template] = await registerNodes(made.server, 1, { atOnce: 1 })
  await made.server.stop()
  await fill(postgres, { tuples, nodes, template: template.node_id })
  const first = await start()
  await first.server.stop()
  const kept = []
  for (let count = 0; count < STARTS; count++) {
    const { server, readyMs } = await start()
    kept.push({ readyMs, memory: await memoryOf(server.pid) })
    await server.stop()
  }
  const seen = await visible({ postgres, directory, start, token })
  return {
    bench: 'cold-start',
    tuples,
    nodes,
    load: round(loadavg()[0]),
    empty_ready_ms: made.readyMs,
    first_ready_ms: first.readyMs,
    ready_ms: median(kept.map(({ readyMs }) => readyMs)),
    ready_worst_ms: Math.max(...kept.map(({ readyMs }) => readyMs)),
    ready_mb: median(kept.map(({ memory }) => memory.nowMb)),
    peak_mb: Math.max(...kept.map(({ memory }) => memory.peakMb)),
    visible_median_ms: round(median(seen.map(({ hereMs }) => hereMs))),
    visible_worst_ms: round(Math.max(...seen.map(({ hereMs }) => hereMs))),
    elsewhere_median_ms: round(median(seen.map(({ elsewhereMs }) => elsewhereMs))),
    elsewhere_worst_ms: round(Math.max(...seen.map(({ elsewhereMs }) => elsewhereMs))),
  }
}

/** Starts a server; resolves once `/readyz` says so, with the time from the start of the process. */
async function startReady(options) {
  const startedAt = performance.now()
  const server = await startCtl(options)
  while (!(await fetch(`${server.opsUrl}/readyz`)).ok) await sleep(5)
  return { server, readyMs: Math.round(performance.now() - startedAt) }
}

/** Adds nodes with the tuples that a registration gives them, and memberships of groups for the rest of the tuples. */
async function fill({ url }, { tuples, nodes, template }) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const insertNodes = `
    insert into nodes (id, domain_id, name, kind, public_key, mesh_address, psk_sealed, psk_issued_at, labels, ephemeral,
      created_at, updated_at, peer_revision)
    select gen_random_uuid(), one.domain_id, 'bench-' || n, one.kind, decode(lpad(to_hex(n), 64, '0'), 'hex'),
      one.mesh_address + n, one.psk_sealed, one.psk_issued_at, '{}', false, now(), now(), one.peer_revision
    from nodes as one, generate_series(1, $2::integer) as n where one.id = $1`
  const insertTheirTuples = `
    insert into relation_tuples (id, subject_type, subject_id, subject_relation, relation, resource_type, resource_id, caveat_name,
      caveat_fields, domain_id, project_id, structural, revision, created_at)
    select gen_random_uuid(), subject_type, subject_id, subject_relation, relation, 'node', nodes.id::text, caveat_name,
      caveat_fields, one.domain_id, one.project_id, structural, 1, now()
    from relation_tuples as one, nodes
    where one.resource_type = 'node' and one.resource_id = $1 and nodes.id <> $1::uuid`
  const insertMemberships = `
    insert into relation_tuples (id, subject_type, subject_id, subject_relation, relation, resource_type, resource_id, caveat_name,
      caveat_fields, domain_id, project_id, structural, revision, created_at)
    select gen_random_uuid(), 'user', md5('user' || n % (1 + $1 / 10))::uuid::text, '', 'member', 'group', md5('group' || n / ${MEMBERS})::uuid::text,
      '', '[]', null, null, false, 1, now()
    from generate_series(1, $1::integer) as n`
  try {
    await client.query(insertNodes, [template, nodes])
    await client.query(
      `insert into node_heartbeats (node_id, created_at) select id, now() from nodes on conflict do nothing`,
    )
    await client.query(`
      insert into node_lanes (node_id, domain_id, hinted_seq, hinted_at)
      select id, domain_id, (select seq from outbox_head), to_timestamp(0) from nodes on conflict do nothing`)
    await client.query(insertTheirTuples, [template])
    const { rows } = await client.query('select count(*)::integer as count from relation_tuples')
    await client.query(insertMemberships, [Math.max(0, tuples - rows[0].count)])
    await client.query('vacuum analyze')
  } finally {
    await client.end()
  }
}

/** From the request of a grant at one server until that server answers that it holds, and until another one does, ms. */
async function visible({ postgres, directory, start, token }) {
  const [{ server: writing }, reading] = [
    await start(),
    await startCtl({ databaseUrl: postgres.url, directory: join(directory, 'second') }),
  ]
  const { domain_id: domainId } = await callApi(writing, 'GET', '/v1/auth/whoami', { token })
  const body = { slug: 'bench', display_name: 'Bench' }
  const project = await callApi(writing, 'POST', `/v1/domains/${domainId}/projects`, { token, body })
  const times = []
  const holds = async (server, question) =>
    (await callApi(server, 'POST', '/v1/authz/check', { token, body: question })).decision === 'allowed'
  try {
    for (let count = 0; count < WRITES; count++) {
      const identity = { subject: `bench-${count}`, display_name: 'Bench' }
      const { id } = await callApi(writing, 'POST', `/v1/domains/${domainId}/service-identities`, {
        token,
        body: identity,
      })
      const tuple = { subject: `serviceaccount:${id}`, relation: 'viewer', resource: `project:${project.id}` }
      const question = { ...tuple, relation: 'read' }
      const startedAt = performance.now()
      await callApi(writing, 'POST', `/v1/authz/relation-tuples?project_id=${project.id}`, { token, body: tuple })
      if (!(await holds(writing, question))) throw new Error('a server did not know a grant that it had answered')
      const hereMs = performance.now() - startedAt
      while (!(await holds(reading, question))) await sleep(1)
      times.push({ hereMs, elsewhereMs: performance.now() - startedAt })
    }
  } finally {
    await Promise.all([writing.stop(), reading.stop()])
  }
  return times
}

function rowsOf(record) {
  return [
    ['tuples, nodes', `${record.tuples}, ${record.nodes}`, ''],
    ['ready over an empty datastore', `${record.empty_ready_ms} ms`, ''],
    ['ready at the first start', `${record.first_ready_ms} ms`, ''],
    [
      'ready with the kept index, median and worst',
      `${record.ready_ms}, ${record.ready_worst_ms} ms`,
      `${record.tuples > DEFAULTS.tuples ? GOALS.keptIndexMs : GOALS.readyMs} ms`,
    ],
    ['memory then, and highest', `${record.ready_mb}, ${record.peak_mb} MB`, ''],
    [
      'a grant until it holds at the server that was asked, median and worst',
      `${record.visible_median_ms}, ${record.visible_worst_ms} ms`,
      `${GOALS.visibleMs} ms`,
    ],
    [
      'until it holds at another one, median and worst',
      `${record.elsewhere_median_ms}, ${record.elsewhere_worst_ms} ms`,
      `${GOALS.elsewhereMs} ms`,
    ],
  ]
}

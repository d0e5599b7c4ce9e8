// 10,000 nodes that report the same violation, on PostgreSQL. First as fast as 64 connections go, against an empty server that
// commits in groups with the same statement (no credential, no audit row); then at 167 reports a second, as a fleet repeats
// them every minute, and pages of the list beside that. Rows are counted before and after: repeated reports add none.
// `--nodes=N` takes fewer nodes, `--seconds=N` another time for the paced part (600 in the issue).
import { loadavg } from 'node:os'
import autocannon from 'autocannon'
import pg from 'pg'
import { startPostgresCluster } from '../support/datastores/postgres-cluster.mjs'
import { median, printRecord, printTable, round } from './support/report.mjs'
import { callApi, memoryOf, registerNodes, startCtl, startGroupCommit } from './support/servers.mjs'

const NODES = 10_000
const PACED_SECONDS = 60
const REPORTS_A_SECOND = 167
const ROUNDS = 5
const SECONDS = 4
const CONNECTIONS = 64
const PACED_CONNECTIONS = 16
const GOALS = { intake: 0.8, pacedP99Ms: 50, listP99Ms: 30 }
const BASELINE_PATH = '/v1/nodes/x/integrity-violations'

/** As the store of reports has it. */
const STATEMENT = `
  with sent as materialized (
    select p, n, k, a, t, w, df, dt, af, at, decode(o, 'hex') as o, nullif(decode(e, 'hex'), ''::bytea) as e
    from json_to_recordset($1::json) as given (
      p integer, n uuid, k text, a text, o text, e text, t integer, w integer,
      df timestamptz, dt timestamptz, af timestamptz, at timestamptz
    )
  ),
  held as (
    select sent.p, sent.n, sent.w, known.id
    from sent
    join nodes on nodes.id = sent.n
    join node_integrity_violations as known
      on known.node_id = sent.n and known.kind = sent.k and known.artifact = sent.a
      and coalesce(known.observed_checksum, ''::bytea) = sent.o and known.status <> 'resolved'
    order by known.id for update of known
  ),
  met as (select p, id, w, count(*) over (partition by n) as found from held)
  update node_integrity_violations as known set
    occurrences = known.occurrences + sent.t,
    last_detected_at = greatest(known.last_detected_at, sent.dt),
    last_accepted_at = greatest(known.last_accepted_at, sent.at),
    expected_checksum = coalesce(sent.e, known.expected_checksum)
  from met join sent on sent.p = met.p
  where known.id = met.id and met.found >= met.w
  returning sent.p as place, known.node_id`

export async function run(args) {
  const asked = (name, otherwise) =>
    Number(args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? otherwise)
  const count = asked('nodes', NODES)
  const pacedSeconds = asked('seconds', PACED_SECONDS)
  const postgres = await startPostgresCluster({ collation: ['--locale=C'] })
  const server = await startCtl({ databaseUrl: postgres.url })
  const empty = await startGroupCommit({ databaseUrl: postgres.url, path: BASELINE_PATH, statement: STATEMENT })
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  try {
    const nodes = await registerNodes(server, count, { atOnce: 8 })
    const first = await report(server, nodes, { connections: CONNECTIONS, amount: count })
    const opened = await rowsOf(client)
    const sides = {
      empty: () => report(empty, nodes, { connections: CONNECTIONS, duration: SECONDS, isBaseline: true }),
      ctl: () => report(server, nodes, { connections: CONNECTIONS, duration: SECONDS }),
    }
    for (const side of Object.values(sides)) await side()
    const rounds = []
    for (let index = 0; index < ROUNDS; index++) rounds.push({ empty: await sides.empty(), ctl: await sides.ctl() })
    const paced = await report(server, nodes, {
      connections: PACED_CONNECTIONS,
      duration: pacedSeconds,
      overallRate: REPORTS_A_SECOND,
    })
    const list = await listPages(server)
    const of = (side, figure) => median(rounds.map((each) => each[side][figure]))
    print({
      bench: 'integrity',
      nodes: count,
      first_reports_rps: Math.round(first.rps),
      empty_rps: Math.round(of('empty', 'rps')),
      ctl_rps: Math.round(of('ctl', 'rps')),
      ratio: round(median(rounds.map(({ empty: bare, ctl }) => ctl.rps / bare.rps))),
      ratio_goal: GOALS.intake,
      paced_seconds: pacedSeconds,
      paced_rps: round(paced.rps),
      paced_p50_ms: paced.p50Ms,
      paced_p99_ms: paced.p99Ms,
      paced_p99_goal_ms: GOALS.pacedP99Ms,
      list_p50_ms: list.p50Ms,
      list_p99_ms: list.p99Ms,
      list_p99_goal_ms: GOALS.listP99Ms,
      rows_opened: opened,
      rows_at_the_end: await rowsOf(client),
      failures: [first, paced, list, ...rounds.map(({ ctl }) => ctl)].reduce((sum, each) => sum + each.failures, 0),
      rss_peak_mb: (await memoryOf(server.pid)).peakMb,
      load_average: round(loadavg()[0]),
    })
  } finally {
    await client.end()
    await Promise.all([empty.stop(), server.stop()])
    await postgres.stop()
  }
}

/** Has the nodes report in turns, each with its own key. */
async function report(server, nodes, { isBaseline = false, ...load }) {
  let next = 0
  const requestOf = () => {
    const { node_id: node, nsk } = nodes[next++ % nodes.length]
    const violation = {
      kind: 'binary',
      artifact: '/usr/local/bin/agent',
      expected_checksum: 'ab'.repeat(32),
      observed_checksum: 'cd'.repeat(32),
      detected_at: new Date().toISOString(),
    }
    return {
      path: isBaseline ? BASELINE_PATH : `/v1/nodes/${node}/integrity-violations`,
      headers: { 'content-type': 'application/json', ...(!isBaseline && { authorization: `Bearer ${nsk}` }) },
      body: JSON.stringify({ ...(isBaseline && { node_id: node }), violations: [violation] }),
    }
  }
  const result = await autocannon({
    url: server.url,
    ...load,
    requests: [{ method: 'POST', setupRequest: (request) => ({ ...request, ...requestOf() }) }],
  })
  return figuresOf(result)
}

/** Reads pages of 50 of the open violations, one after the other. */
async function listPages(server) {
  await callApi(server, 'GET', '/v1/integrity-violations?status=open')
  const result = await autocannon({
    url: `${server.url}/v1/integrity-violations?status=open`,
    connections: 1,
    duration: SECONDS,
    headers: { authorization: `Bearer ${server.token}` },
  })
  return figuresOf(result)
}

function figuresOf({ requests, duration, latency, non2xx, errors, timeouts }) {
  return {
    rps: requests.total / duration,
    p50Ms: latency.p50,
    p99Ms: latency.p99,
    failures: non2xx + errors + timeouts,
  }
}

async function rowsOf(client) {
  const { rows } = await client.query('select count(*)::integer as count from node_integrity_violations')
  return rows[0].count
}

function print(record) {
  printTable(
    ['nodes', 'empty rps', 'ctl rps', 'ratio', 'goal', 'paced p99 ms', 'list p99 ms', 'rows', 'failures'],
    [
      [
        record.nodes,
        record.empty_rps,
        record.ctl_rps,
        record.ratio,
        record.ratio_goal,
        record.paced_p99_ms,
        record.list_p99_ms,
        record.rows_at_the_end,
        record.failures,
      ],
    ],
  )
  printRecord(record)
}

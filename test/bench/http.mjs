// Authenticated POST /v1/authz/check with audit and everything else on, against bare Fastify with the same body.
import { startBaseline, startCtl, callApi, readMetrics, readSettledMetrics, memoryOf } from './support/servers.mjs'
import { startPostgresCluster } from '../support/datastores/postgres-cluster.mjs'
import { post } from './support/load.mjs'
import { median, printRecord, printTable, round } from './support/report.mjs'
import { roundsOf } from './support/rounds.mjs'

const ROUNDS = 5
const SECONDS = 4
const CONNECTIONS = 64
const PATH = '/v1/authz/check'

export async function run(args) {
  for (const store of args.includes('--embedded')
    ? ['embedded']
    : args.includes('--postgres')
      ? ['postgres']
      : ['embedded', 'postgres']) {
    await runOn(store, roundsOf(args, ROUNDS))
  }
}

async function runOn(store, times) {
  const postgres = store === 'postgres' ? await startPostgresCluster({ collation: ['--locale=C'] }) : undefined
  const server = await startCtl({ databaseUrl: postgres?.url })
  const whoami = await callApi(server, 'GET', '/v1/auth/whoami')
  const body = { subject: whoami.subject, relation: 'read', resource: `domain:${whoami.domain_id}` }
  const answer = await callApi(server, 'POST', PATH, { body })
  const baseline = await startBaseline({ path: PATH, answer })
  const load = (url) =>
    post(url, {
      connections: CONNECTIONS,
      seconds: SECONDS,
      requestOf: () => ({ path: PATH, headers: { authorization: `Bearer ${server.token}` }, body }),
    })
  await load(baseline.url)
  await load(server.url)
  const before = await readMetrics(server)
  const rounds = []
  for (let count = 0; count < times; count++)
    rounds.push({ bare: await load(baseline.url), ctl: await load(server.url) })
  const after = await readSettledMetrics(server)
  const memory = await memoryOf(server.pid)
  await Promise.all([server.stop(), baseline.stop()])
  await postgres?.stop()

  const of = (side, figure) => median(rounds.map((each) => each[side][figure]))
  const counted = (name) => (after[name] ?? Number.NaN) - (before[name] ?? 0)
  const record = {
    bench: 'http',
    store,
    bare_rps: Math.round(of('bare', 'requestsPerSecond')),
    ctl_rps: Math.round(of('ctl', 'requestsPerSecond')),
    ratio: round(median(rounds.map(({ bare, ctl }) => ctl.requestsPerSecond / bare.requestsPerSecond))),
    goal: 0.5,
    ctl_p99_ms: of('ctl', 'p99Ms'),
    failures: rounds.reduce((sum, { ctl }) => sum + ctl.failures, 0),
    requests: rounds.reduce((sum, { ctl }) => sum + ctl.requests, 0),
    audit_rows_written: counted('audit_rows_written_total'),
    audit_rows_dropped: counted('audit_rows_dropped_total'),
    rss_peak_mb: memory.peakMb,
  }
  printTable(
    ['store', 'bare rps', 'ctl rps', 'ratio', 'goal', 'p99 ms', 'failures', 'audit written', 'audit dropped'],
    [
      [
        store,
        record.bare_rps,
        record.ctl_rps,
        record.ratio,
        record.goal,
        record.ctl_p99_ms,
        record.failures,
        record.audit_rows_written,
        record.audit_rows_dropped,
      ],
    ],
  )
  printRecord(record)
}

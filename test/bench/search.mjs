// A page of 50 of 100,000 objects with 500,000 labels, by selectors of 1 to 5 requirements, with its row filter, on both stores.
// On PostgreSQL against Fastify that sends the rows of the same selection as one statement, in the same run. `--embedded` or
// `--postgres` takes one store.
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgresCluster } from '../support/datastores/postgres-cluster.mjs'
import { definitionId, fillStore } from './support/labelled-objects.mjs'
import { get, post } from './support/load.mjs'
import { median, printRecord, printTable, round } from './support/report.mjs'
import { callApi, startCtl, startEmpty } from './support/servers.mjs'

const PAGE = 50
const ROUNDS = 3
const SECONDS = 4
/** One request at a time: the goal is the time of a search, not of its queue. */
const CONNECTIONS = 1
const GOALS_MS = { postgres: 40, embedded: 120 }
const GOAL = 0.5

/** `env` is inherited from Projects; the others are of the nodes themselves. */
const SELECTORS = [
  'app=a17',
  'env=prod,region=r1',
  'team in (t1,t2),tier=web,region!=r1',
  'env=prod,tier=web,team=t7,!legacy',
  'env=prod,region=r1,tier in (web,api),size>50,team!=t3',
]

const LABEL = (key, kind = 'o.kind', of = 'o.id') => `from label_assignments a
  where a.definition_id = '${definitionId(key)}' and a.kind = ${kind} and a.object_id = ${of}`
const ENV = `coalesce((select a.value ${LABEL('env')}), (select a.value ${LABEL('env', `'project'`, 'o.project_id')}),
  (select a.value ${LABEL('env', `'domain'`, 'o.domain_id')}))`
const HAS = (key, test) => `exists (select ${LABEL(key)} and ${test})`

/** The same selections as one would write them by hand, for the planner to order. */
const CONDITIONS = [
  HAS('app', `a.value = 'a17'`),
  `${ENV} = 'prod' and ${HAS('region', `a.value = 'r1'`)}`,
  `${HAS('team', `a.value in ('t1', 't2')`)} and ${HAS('tier', `a.value = 'web'`)} and not ${HAS('region', `a.value = 'r1'`)}`,
  `${ENV} = 'prod' and ${HAS('tier', `a.value = 'web'`)} and ${HAS('team', `a.value = 't7'`)} and not ${HAS('legacy', 'true')}`,
  `${ENV} = 'prod' and ${HAS('region', `a.value = 'r1'`)} and ${HAS('tier', `a.value in ('web', 'api')`)}
    and ${HAS('size', 'a.number > 50')} and not ${HAS('team', `a.value = 't3'`)}`,
]
const statementOf = (condition) => `select o.kind, o.id, o.domain_id, o.project_id, n.name as display_name
  from label_objects o left join nodes n on n.id = o.id where ${condition} order by o.kind, o.id limit ${PAGE + 1}`

export async function run(args) {
  const stores = ['embedded', 'postgres'].filter((store) => args.includes(`--${store}`))
  for (const store of stores.length > 0 ? stores : ['embedded', 'postgres']) await runOn(store)
}

async function runOn(store) {
  const directory = await mkdtemp(join(tmpdir(), 'ctl-bench-'))
  const postgres = store === 'postgres' ? await startPostgresCluster({ collation: ['--locale=C'] }) : undefined
  const start = () => startCtl({ databaseUrl: postgres?.url, directory })
  let server
  try {
    // The first start makes the administrator and its token.
    await (await start()).stop()
    await fillStore(store, { url: postgres?.url, dataDir: join(directory, 'data') })
    server = await start()
    for (const [at, selector] of SELECTORS.entries())
      await measure({ selector, statement: statementOf(CONDITIONS[at]) }, { store, server, postgres })
  } finally {
    await server?.stop()
    await postgres?.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

async function measure({ selector, statement }, { store, server, postgres }) {
  const path = '/v1/objects/search'
  const body = { selector, scope: 'platform', limit: PAGE }
  const { items } = await callApi(server, 'POST', path, { body })
  if (items.length !== PAGE || items.some((item) => item.display_name === ''))
    throw new Error(`${selector}: a page of ${items.length} objects`)
  const empty = postgres && (await startEmpty({ databaseUrl: postgres.url, path, statement, argument: '' }))
  if (empty) await assertSame(items, empty, path)
  const headers = { authorization: `Bearer ${server.token}` }
  const load = { connections: CONNECTIONS, seconds: SECONDS }
  const asked = () => post(server.url, { ...load, requestOf: () => ({ path, headers, body }) })
  const byHand = () => empty && get(empty.url, { ...load, path, headers: {} })
  await asked()
  await byHand()
  const rounds = []
  for (let index = 0; index < ROUNDS; index++) rounds.push({ empty: await byHand(), ctl: await asked() })
  await empty?.stop()
  report({ selector, store, rounds })
}

async function assertSame(items, empty, path) {
  const rows = await (await fetch(empty.url + path)).json()
  const ids = rows.slice(0, PAGE).map(({ id }) => id)
  if (ids.join() !== items.map(({ id }) => id).join()) throw new Error('the statement by hand selects other objects')
}

function report({ selector, store, rounds }) {
  const of = (figure) => median(rounds.map(({ ctl }) => ctl[figure]))
  const record = {
    bench: 'search',
    store,
    selector,
    requirements: selector.split(/,(?![^(]*\))/).length,
    empty_rps: store === 'postgres' ? round(median(rounds.map(({ empty }) => empty.requestsPerSecond))) : null,
    ctl_rps: round(of('requestsPerSecond')),
    ratio:
      store === 'postgres'
        ? round(median(rounds.map(({ empty, ctl }) => ctl.requestsPerSecond / empty.requestsPerSecond)))
        : null,
    goal: GOAL,
    p50_ms: of('p50Ms'),
    p99_ms: of('p99Ms'),
    goal_ms: GOALS_MS[store],
    failures: rounds.reduce((sum, { ctl, empty }) => sum + ctl.failures + (empty?.failures ?? 0), 0),
    load_average: round(loadavg()[0]),
  }
  const { empty_rps, ctl_rps, ratio, p50_ms, p99_ms, goal_ms, failures } = record
  printTable(
    ['store', 'requirements', 'by hand rps', 'ctl rps', 'ratio', 'goal', 'p50 ms', 'p99 ms', 'goal ms', 'failures'],
    [[store, record.requirements, empty_rps ?? '-', ctl_rps, ratio ?? '-', GOAL, p50_ms, p99_ms, goal_ms, failures]],
  )
  printRecord(record)
}

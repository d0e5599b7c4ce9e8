// Searches of callers who may see few of 99,480 nodes, many, or those of whole Domains, on both stores: a page, and how long it
// takes until 50 nodes are shown or the list has ended. `--embedded` or `--postgres` takes one store.
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgresCluster } from '../support/datastores/postgres-cluster.mjs'
import { DOMAINS, fillStore, NODES, viewerOf, viewerOfDomains } from './support/labelled-objects.mjs'
import { median, printRecord, printTable, round } from './support/report.mjs'
import { callApi, startCtl } from './support/servers.mjs'

const PAGE = 50
const ROUNDS = 15

/** Callers, by how many nodes they may see by roles on nodes, or of how many Domains. */
const CALLERS = [
  ...[0, 50, 500, 990, 2_000, 5_000, 10_000].map((nodes) => ({
    nodes,
    more: (id) => (nodes > 0 ? viewerOf(id, nodes) : []),
  })),
  ...[1, DOMAINS].map((domains) => ({
    nodes: (NODES * domains) / DOMAINS,
    more: (id) => viewerOfDomains(id, domains),
  })),
]

export async function run(args) {
  const stores = ['embedded', 'postgres'].filter((store) => args.includes(`--${store}`))
  for (const store of stores.length > 0 ? stores : ['embedded', 'postgres']) await runOn(store)
}

async function runOn(store) {
  const directory = await mkdtemp(join(tmpdir(), 'ctl-bench-'))
  const postgres = store === 'postgres' ? await startPostgresCluster({ collation: ['--locale=C'] }) : undefined
  const start = () => startCtl({ databaseUrl: postgres?.url, directory })
  let server = await start()
  try {
    const callers = []
    for (const [at, caller] of CALLERS.entries())
      callers.push({ ...caller, ...(await identity(server, `caller-${at}`)) })
    await server.stop()
    const more = callers.flatMap(({ more: statements, id }) => statements(id))
    await fillStore(store, { url: postgres?.url, dataDir: join(directory, 'data'), more })
    server = await start()
    for (const caller of [...callers, { nodes: NODES, token: server.token }]) await measure({ store, server, caller })
  } finally {
    await server.stop()
    await postgres?.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

async function identity(server, name) {
  const { domain_id: domainId } = await callApi(server, 'GET', '/v1/auth/whoami')
  const body = { display_name: name, subject: name }
  const made = await callApi(server, 'POST', `/v1/domains/${domainId}/service-identities`, { body })
  const id = made.id ?? made.principal_id
  const issued = { identity_ref: `service:${id}`, name }
  const { token } = await callApi(server, 'POST', '/v1/admin/tokens', { body: issued })
  return { id, token }
}

async function measure({ store, server, caller: { nodes, token } }) {
  const search = (cursor) =>
    callApi(server, 'POST', '/v1/objects/search', {
      token,
      // Strangers do not know the key of the platform, but everybody may search for everything.
      body: { selector: '*', kind: 'node', scope: 'platform', limit: PAGE, ...(cursor && { cursor }) },
    })
  const pageMs = []
  const fullMs = []
  let pages = 0
  let items = 0
  await search()
  for (let each = 0; each < ROUNDS; each++) {
    const startedAt = performance.now()
    await search()
    pageMs.push(performance.now() - startedAt)
  }
  for (let each = 0; each < 3; each++) {
    const startedAt = performance.now()
    ;({ pages, items } = await untilFull(search))
    fullMs.push(performance.now() - startedAt)
  }
  report({ store, nodes, pages, items, pageMs: median(pageMs), fullMs: median(fullMs) })
}

async function untilFull(search) {
  let pages = 0
  let items = 0
  let cursor
  do {
    const page = await search(cursor)
    pages++
    items += page.items.length
    cursor = page.next_cursor
  } while (cursor && items < PAGE)
  return { pages, items }
}

function report({ store, nodes, pages, items, pageMs, fullMs }) {
  const record = {
    bench: 'few-visible',
    store,
    nodes_seen: nodes,
    page_ms: round(pageMs),
    full_ms: round(fullMs),
    pages,
    items,
    load_average: round(loadavg()[0]),
  }
  printTable(
    ['store', 'nodes seen', 'page ms', `ms until ${PAGE}`, 'pages', 'items'],
    [[store, nodes, record.page_ms, record.full_ms, pages, items]],
  )
  printRecord(record)
}

// The deletion of a Definition with 100,000 labels, which takes them with it in one transaction, on both stores: how long it takes,
// and how long others wait meanwhile who ask every 50 ms whether the server lives, who they are, and for a row of the
// datastore. `--embedded` or `--postgres` takes one store.
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgresCluster } from '../support/datastores/postgres-cluster.mjs'
import { CASCADES, fillStore, NODES, RESOURCES, WITH_CASCADES } from './support/labelled-objects.mjs'
import { printRecord, printTable, round } from './support/report.mjs'
import { callApi, startCtl } from './support/servers.mjs'

const EVERY_MS = 50
const LABELS = { node: NODES, resource: RESOURCES }

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
    await (await start()).stop()
    await fillStore(store, { url: postgres?.url, dataDir: join(directory, 'data'), more: WITH_CASCADES })
    server = await start()
    for (const kind of ['resource', 'node']) await measure({ store, server, kind })
  } finally {
    await server?.stop()
    await postgres?.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

async function measure({ store, server, kind }) {
  const path = `/v1/label-definitions/${CASCADES[kind]}`
  const { domain_id: domainId } = await callApi(server, 'GET', '/v1/auth/whoami')
  const over = new AbortController()
  const probes = [
    probe(over.signal, async () => (await fetch(`${server.opsUrl}/livez`)).text()),
    probe(over.signal, () => callApi(server, 'GET', '/v1/auth/whoami')),
    probe(over.signal, () => callApi(server, 'GET', `/v1/domains/${domainId}`)),
  ]
  const startedAt = performance.now()
  await callApi(server, 'DELETE', path)
  const ms = performance.now() - startedAt
  over.abort()
  const [livez, whoami, read] = await Promise.all(probes)
  const { status } = await fetch(server.url + path, { headers: { authorization: `Bearer ${server.token}` } })
  if (status !== 404) throw new Error(`the Definition is still there: ${status}`)
  report({ store, kind, labels: LABELS[kind], ms, livez, whoami, read })
}

/** Asks time and again, and gives the longest that an answer took, in ms, and how many failed. */
async function probe(signal, ask) {
  let longestMs = 0
  let failures = 0
  while (!signal.aborted) {
    const startedAt = performance.now()
    await ask().catch(() => failures++)
    const tookMs = performance.now() - startedAt
    longestMs = Math.max(longestMs, tookMs)
    await sleep(Math.max(0, EVERY_MS - tookMs))
  }
  return { longestMs, failures }
}

function report({ store, kind, labels, ms, livez, whoami, read }) {
  const record = {
    bench: 'cascade',
    store,
    kind,
    labels,
    ms: round(ms),
    livez_ms: round(livez.longestMs),
    whoami_ms: round(whoami.longestMs),
    read_ms: round(read.longestMs),
    failures: livez.failures + whoami.failures + read.failures,
    load_average: round(loadavg()[0]),
  }
  printTable(
    ['store', 'kind', 'labels', 'deletion ms', 'livez ms', 'whoami ms', 'read ms', 'failures'],
    [[store, kind, labels, record.ms, record.livez_ms, record.whoami_ms, record.read_ms, record.failures]],
  )
  printRecord(record)
}

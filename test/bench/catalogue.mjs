// A list of 200 Clouds out of 10,000 with its row filter, and one Cloud in bundle mode with overrides, on PostgreSQL. Against
// an empty server that sends the rows of the same statement, in the same run; bare Fastify that sends as many bytes beside
// it. Processor time of a request is beside both: unlike the rates it hardly depends on what else the machine does. `--clouds=N` takes another number.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgresCluster } from '../support/datastores/postgres-cluster.mjs'
import { get } from './support/load.mjs'
import { median, printRecord, printTable, round } from './support/report.mjs'
import { callApi, processorMsOf, startBytes, startCtl, startEmpty } from './support/servers.mjs'

const CLOUDS = 10_000
const PAGE = 200
const CREATING = 8
const ROUNDS = 5
const SECONDS = 4
const CONNECTIONS = 32
const GOAL = 0.6

/** As the store of the Clouds has it: pages read one row more. */
const RESOLVED = (clouds) => `
  select cloud.*, bundle.slug as bundle_slug, pinned.provider_packages as bundle_packages,
    pinned.provider_config_api_version as bundle_config_api_version
  from (${clouds}) as cloud
  left join provider_bundles as bundle on bundle.id = cloud.bundle_id
  left join provider_bundle_versions as pinned
    on pinned.bundle_id = cloud.bundle_id and pinned.version = cloud.bundle_version`
const LIST = `${RESOLVED(`select * from clouds order by slug asc limit ${PAGE + 1}`)} order by slug asc`
const READ = RESOLVED('select * from clouds where id = $1')

export async function run(args) {
  const asked = args.find((arg) => arg.startsWith('--clouds='))?.slice('--clouds='.length)
  const count = Number(asked ?? CLOUDS)
  const directory = await mkdtemp(join(tmpdir(), 'ctl-bench-'))
  const postgres = await startPostgresCluster({ collation: ['--locale=C'] })
  const server = await startCtl({ databaseUrl: postgres.url })
  const cloud = await createClouds(server, count)
  const cases = [
    { name: 'list', path: `/v1/clouds?limit=${PAGE}`, statement: LIST, argument: '' },
    { name: 'read', path: `/v1/clouds/${cloud}`, statement: READ, argument: cloud },
  ]
  for (const one of cases) await measure(one, { server, postgres, directory, count })
  await server.stop()
  await postgres.stop()
  await rm(directory, { recursive: true, force: true })
}

async function measure({ name, path, statement, argument }, { server, postgres, directory, count }) {
  const document = await callApi(server, 'GET', path)
  if (name === 'list' && document.items.length !== PAGE) throw new Error(`a page of ${document.items.length} Clouds`)
  const file = join(directory, `${name}.json`)
  await writeFile(file, JSON.stringify(document))
  const bare = await startBytes(file)
  const empty = await startEmpty({ databaseUrl: postgres.url, path: path.split('?', 1)[0], statement, argument })
  const load = async ({ url, pid }, of) => {
    const headers = { authorization: `Bearer ${server.token}` }
    const before = await processorMsOf(pid)
    const figures = await get(url, { connections: CONNECTIONS, seconds: SECONDS, path: of, headers })
    return { ...figures, processorMs: ((await processorMsOf(pid)) - before) / figures.requests }
  }
  const sides = {
    bare: () => load(bare, '/'),
    empty: () => load(empty, path),
    ctl: () => load(server, path),
  }
  for (const side of Object.values(sides)) await side()
  const rounds = []
  for (let index = 0; index < ROUNDS; index++) {
    rounds.push({ bare: await sides.bare(), empty: await sides.empty(), ctl: await sides.ctl() })
  }
  await Promise.all([bare.stop(), empty.stop()])

  const of = (side, figure) => median(rounds.map((each) => each[side][figure]))
  const record = {
    bench: 'catalogue',
    case: name,
    clouds: count,
    connections: CONNECTIONS,
    answer_bytes: Buffer.byteLength(JSON.stringify(document)),
    bare_rps: Math.round(of('bare', 'requestsPerSecond')),
    empty_rps: Math.round(of('empty', 'requestsPerSecond')),
    ctl_rps: Math.round(of('ctl', 'requestsPerSecond')),
    ratio: round(median(rounds.map(({ empty: e, ctl }) => ctl.requestsPerSecond / e.requestsPerSecond))),
    goal: GOAL,
    empty_cpu_ms: round(of('empty', 'processorMs')),
    ctl_cpu_ms: round(of('ctl', 'processorMs')),
    ctl_p50_ms: of('ctl', 'p50Ms'),
    ctl_p99_ms: of('ctl', 'p99Ms'),
    failures: rounds.reduce((sum, { ctl, empty: e }) => sum + ctl.failures + e.failures, 0),
    load_average: round(loadavg()[0]),
  }
  printTable(
    [
      'case',
      'bare rps',
      'empty rps',
      'ctl rps',
      'ratio',
      'goal',
      'empty cpu ms',
      'ctl cpu ms',
      'p50 ms',
      'p99 ms',
      'failures',
    ],
    [
      [
        name,
        record.bare_rps,
        record.empty_rps,
        record.ctl_rps,
        record.ratio,
        GOAL,
        record.empty_cpu_ms,
        record.ctl_cpu_ms,
        record.ctl_p50_ms,
        record.ctl_p99_ms,
        record.failures,
      ],
    ],
  )
  printRecord(record)
}

const packs = (count, version) =>
  Array.from({ length: count }, (_, index) => ({ source: `oci://registry.example/provider-${index}`, version }))

/** Creates the Clouds, every second one pinned to a bundle with overrides. Returns the id of one of those. */
async function createClouds(server, count) {
  const content = { provider_packages: packs(4, 'v1.0.0'), provider_config_api_version: 'v1beta1' }
  const described = { display_name: 'Bench', provider: 'hetzner' }
  const bundle = await callApi(server, 'POST', '/v1/provider-bundles', {
    body: { ...described, slug: 'bench', ...content },
  })
  await untilReadable(server, bundle.id)
  const pinned = { provider_bundle_id: bundle.id, provider_package_overrides: packs(2, 'v2.0.0') }
  let next = 0
  let resolved
  const createSome = async () => {
    while (next < count) {
      const index = next++
      const configuration = index % 2 === 0 ? content : pinned
      const place = { endpoint: { api_url: `https://api-${index}.example/v1` }, region_defaults: { location: 'fsn1' } }
      const body = { ...described, slug: `bench-${String(index).padStart(6, '0')}`, ...place, ...configuration }
      const { id } = await callApi(server, 'POST', '/v1/clouds', { body })
      if (index % 2 === 1) resolved = id
    }
  }
  await Promise.all(Array.from({ length: CREATING }, createSome))
  return resolved
}

/** The grants of a bundle follow a moment later. */
async function untilReadable(server, id) {
  for (let attempt = 0; attempt < 100; attempt++) {
    const answer = await fetch(`${server.url}/v1/provider-bundles/${id}`, {
      headers: { authorization: `Bearer ${server.token}` },
    })
    if (answer.ok) return
    await sleep(100)
  }
  throw new Error('the bundle is not readable')
}

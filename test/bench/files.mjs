// A Domain of ten thousand nodes, two hundred policies and five thousand roles as files: how long an export takes, a diff of files
// that change nothing, and an apply of one change, with the calls of each. `--nodes=N`, `--policies=N` and `--grants=N` take
// other numbers; `--embedded` or `--postgres` takes one store.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { startPostgresCluster } from '../support/datastores/postgres-cluster.mjs'
import { createDomain, fillDomain } from './support/policed-domain.mjs'
import { printRecord, printTable } from './support/report.mjs'
import { callApi, CTL, startCtl } from './support/servers.mjs'

const GOALS = { export: 10, diff: 15 }
const PROJECTS = 20
/** Tuples of one bulk call. */
const BULK = 500

export async function run(args) {
  const numberAfter = (name, fallback) =>
    Number(args.find((arg) => arg.startsWith(`${name}=`))?.slice(name.length + 1) ?? fallback)
  const sizes = {
    nodes: numberAfter('--nodes', 10_000),
    policies: numberAfter('--policies', 200),
    grants: numberAfter('--grants', 5_000),
  }
  const stores = ['embedded', 'postgres'].filter((store) => args.includes(`--${store}`))
  for (const store of stores.length > 0 ? stores : ['embedded', 'postgres']) await runOn(store, sizes)
}

async function runOn(store, sizes) {
  const directory = await mkdtemp(join(tmpdir(), 'ctl-bench-files-'))
  const postgres = store === 'postgres' ? await startPostgresCluster({ collation: ['--locale=C'] }) : undefined
  const startServer = () => startCtl({ databaseUrl: postgres?.url, directory })
  let server = await startServer()
  try {
    const domain = await createDomain(server, 0)
    await makePolicies(server, domain, sizes.policies)
    await makeGrants(server, domain, sizes.grants)
    await server.stop()
    const place = { url: postgres?.url, dataDir: join(directory, 'data') }
    await fillDomain(store, place, { ...domain, count: sizes.nodes })
    server = await startServer()
    report({ store, ...sizes, ...(await measure(server, join(directory, 'files'))) })
  } finally {
    await server.stop()
    await postgres?.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

async function makePolicies(server, { id }, count) {
  for (let index = 0; index < count; index++) {
    const rules = Array.from({ length: 5 }, (_, place) => ({
      direction: 'ingress',
      peers: `role=r${index % 50},env=e${place}`,
      protocol: 'tcp',
      ports: [String(1_000 + index * 10 + place)],
    }))
    const body = { slug: `policy-${index}`, selector: `role=r${(index + 1) % 50}`, rules, tests: [] }
    await callApi(server, 'POST', `/v1/domains/${id}/policies`, { body })
  }
}

/** Groups that hold a role in each of the Projects. */
async function makeGrants(server, { id }, count) {
  const projects = []
  for (let index = 0; index < PROJECTS; index++) {
    const body = { slug: `project-${index}`, display_name: `Project ${index}` }
    projects.push((await callApi(server, 'POST', `/v1/domains/${id}/projects`, { body })).id)
  }
  const tuples = []
  for (let index = 0; tuples.length < count; index++) {
    const body = { slug: `group-${index}`, display_name: `Group ${index}` }
    const group = (await callApi(server, 'POST', `/v1/domains/${id}/groups`, { body })).id
    const subject = `group:${group}#member`
    for (const project of projects)
      tuples.push({ project_id: project, subject, relation: 'viewer', resource: `project:${project}` })
  }
  for (let from = 0; from < count; from += BULK)
    await callApi(server, 'POST', '/v1/authz/relation-tuples/bulk', {
      body: { tuples: tuples.slice(from, Math.min(count, from + BULK)) },
    })
}

async function measure(server, folder) {
  // The server has just begun, and has the new labels of all nodes to pass on.
  const first = await ctl(server, ['export', `${folder}-first`])
  const exported = await ctl(server, ['export', folder])
  const same = await ctl(server, ['diff', folder])
  const path = join(folder, 'groups/group-0.yaml')
  await writeFile(path, (await readFile(path, 'utf8')).replace('Group 0', 'Group zero'))
  const applied = await ctl(server, ['apply', folder, '--yes'])
  if (first.exitCode + exported.exitCode + same.exitCode + applied.exitCode !== 0) throw new Error('a command failed')
  return { first, exported, same, applied }
}

/** Runs the command line: the seconds that it takes, its calls, and those of them that write. */
async function ctl(server, args) {
  const beganMs = performance.now()
  const child = spawn(process.execPath, [CTL, ...args, '--debug'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, CTL_URL: server.url, CTL_TOKEN: server.token },
  })
  const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  const seconds = (performance.now() - beganMs) / 1000
  if (exitCode !== 0) console.error(stderr.slice(-2_000))
  const methods = [...stderr.matchAll(/\b(GET|POST|PUT|PATCH|DELETE) \S*\/v1\//g)].map(([, method]) => method)
  return { exitCode, seconds, calls: methods.length, writes: methods.filter((method) => method !== 'GET').length }
}

function report({ store, nodes, policies, grants, first, exported, same, applied }) {
  const row = (what, { seconds, calls, writes }, goal) => [what, seconds.toFixed(1), goal, calls, writes]
  console.log(`${store}: ${nodes} nodes, ${policies} policies, ${grants} roles; load ${loadavg()[0].toFixed(1)}`)
  printTable(
    ['command', 'seconds', 'goal', 'calls', 'writes'],
    [
      row('export, the first one', first, ''),
      row('export', exported, GOALS.export),
      row('diff, no change', same, GOALS.diff),
      row('apply, one change', applied, ''),
    ],
  )
  printRecord({
    bench: 'files',
    store,
    nodes,
    policies,
    grants,
    first_export_seconds: Number(first.seconds.toFixed(1)),
    export_seconds: Number(exported.seconds.toFixed(1)),
    export_calls: exported.calls,
    diff_seconds: Number(same.seconds.toFixed(1)),
    diff_calls: same.calls,
    apply_seconds: Number(applied.seconds.toFixed(1)),
    apply_writes: applied.writes,
  })
}

// Upgrades a server from the version before, as it was packed, to this one, on the embedded datastore and on PostgreSQL.
// The former version makes a Domain's data and stops; this one has to have it all, the node has to report in with the key that
// it has, the audit has to verify, and the former version has to refuse the newer schema in one sentence.
// The last line is for scripts: `N passed, N failed, N skipped`.
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgresCluster } from '../test/support/datastores/postgres-cluster.mjs'
import { formerVersions, hasFormerSchema, packFirst, isWithoutHistory } from './lib/former-version.mjs'
import { createInstalledCtl } from './lib/installed-ctl.mjs'
import { installPackage, ownNode, pack } from './lib/package-manager.mjs'
import { root } from './lib/root.mjs'
import { assert, runSteps } from './lib/steps.mjs'

const scratch = mkdtempSync(join(tmpdir(), 'ctl-upgrade-'))
const scripts = {}
const running = []
let cluster
let former

async function packFormer() {
  former = await packFirst(await formerVersions(), join(scratch, 'former'))
  return former.words
}

async function installBoth() {
  const node = ownNode(scratch)
  const current = await pack(root, join(scratch, 'current'))
  const install = async (name, tarball) => {
    scripts[name] = (await installPackage(tarball, node, join(scratch, name, 'installed'))).script
  }
  await Promise.all([install('former', former.tarball), install('current', current)])
}

/** `ctl` of one version, on one store and its data directory. */
function ctlOf(version, { name, env }) {
  const folder = join(scratch, name)
  const home = join(folder, 'home')
  mkdirSync(home, { recursive: true })
  const ctl = createInstalledCtl({
    node: process.execPath,
    script: scripts[version],
    home,
    data: join(folder, 'data'),
    env,
  })
  running.push(ctl)
  return ctl
}

async function request(url, { bearer, body }) {
  const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await response.text()
  assert(response.ok, `POST ${new URL(url).pathname} answers ${response.status}: ${text}`)
  return JSON.parse(text)
}

async function heartbeat(url, { node_id, nsk }) {
  const checksum = createHash('sha256').update('node').digest('hex')
  const body = { client_now: new Date().toISOString(), binary_version: '1.0.0', binary_checksum: checksum }
  await request(`${url}/v1/nodes/${node_id}/heartbeat`, { bearer: nsk, body })
}

/** A Domain in use: a Project, a token, a grant, a policy, a node that reports in, and what the audit says of them. */
async function makeData(store) {
  const server = ctlOf('former', store)
  const { ctl } = server
  const url = await server.serve()
  await server.login(url)
  await ctl(['projects', 'create', 'web', '--display-name', 'Website'])
  await ctl(['service-identities', 'create', 'deployer', '--display-name', 'Deployer'])
  await ctl(['grants', 'create', 'service:deployer', 'operator'])
  await ctl(['policies', 'create', 'ssh', '--selector', '*', '--rule', 'ingress tcp:22 from *'])
  const token = await ctl([
    'tokens',
    'issue',
    'ci',
    '--for',
    'service:deployer',
    '--expires-in',
    '1h',
    '--jq',
    '.token',
  ])
  const joinToken = (await ctl(['join-tokens', 'create', '--max-uses', '1', '--jq', '.token'])).trim()
  const body = { name: 'first', kind: 'vm', public_key: Buffer.alloc(32, 9).toString('base64') }
  const node = await request(`${url}/v1/nodes/register`, { bearer: joinToken, body })
  await heartbeat(url, node)
  store.kept = { node, token: token.trim(), audit: (await auditRows(ctl)).length }
  await server.stop()
}

const auditRows = async (ctl) => (await ctl(['audit', 'list', '--all', '-o', 'name'])).trim().split('\n')
const namesOf = async (ctl, noun) => (await ctl([noun, 'list', '--all', '-o', 'name'])).trim()

async function findData(store) {
  const { node, token, audit } = store.kept
  const server = ctlOf('current', store)
  const { ctl } = server
  const url = await server.serve()
  // Each start has another port, and the context of the command line names the former one.
  await server.login(url)
  await heartbeat(url, node)
  const found = await Promise.all(
    ['projects', 'service-identities', 'policies', 'nodes'].map((noun) => namesOf(ctl, noun)),
  )
  for (const [index, name] of ['web', 'deployer', 'ssh', 'first'].entries())
    assert(found[index].includes(name), `${name} is gone: ${found[index]}`)
  assert(
    (await ctl(['nodes', 'show', 'first', '--jq', '.reachability'])).trim() === 'healthy',
    'the node is not healthy',
  )
  const whoami = await fetch(`${url}/v1/auth/whoami`, { headers: { authorization: `Bearer ${token}` } })
  assert(whoami.ok, `the token that was issued before gets ${whoami.status}`)
  await ctl(['authz', 'check', 'service:deployer', 'operate', 'domain:default'])
  const rows = (await auditRows(ctl)).length
  assert(rows >= audit, `${rows} rows of the audit are left of ${audit}`)
  await ctl(['audit', 'verify'])
  await server.stop()
  return `${rows} rows of the audit`
}

/** What an operator sees who goes back without the backup. */
async function goBack(store) {
  if (!(await hasFormerSchema(former.commit))) return 'both versions have one schema'
  const { code, stderr } = await ctlOf('former', store).attempt([
    'serve',
    '--listen',
    '127.0.0.1:0',
    '--data-dir',
    join(scratch, store.name, 'data'),
  ])
  const said = stderr.trim().split('\n')
  assert(code !== 0, 'the former version serves a newer schema')
  assert(said.length === 1 && !/\n\s+at /.test(stderr), `the former version does not refuse in one sentence: ${stderr}`)
  return said[0]
}

const STORES = [
  { name: 'embedded', words: 'the embedded datastore', env: {} },
  { name: 'postgres', words: 'PostgreSQL', env: {} },
]

/** The address has no password, and reaches the server by its variable. */
async function startPostgres() {
  cluster = await startPostgresCluster()
  STORES[1].env = { SERVICE_DATABASE_URL: await cluster.createDatabase() }
}

const steps = [
  { name: 'the former version is built and packed', run: packFormer },
  { name: 'both versions are installed', run: installBoth },
  { name: 'PostgreSQL is there', run: startPostgres },
  ...STORES.flatMap((store) => [
    { name: `the former version makes data on ${store.words}`, run: () => makeData(store) },
    { name: `this version has the data of ${store.words}`, run: () => findData(store) },
    { name: `the former version refuses the schema of ${store.words}`, run: () => goBack(store) },
  ]),
]
if (await isWithoutHistory()) {
  process.stdout.write('A shallow clone has no former version; git fetch --unshallow brings it.\n')
  process.stdout.write(`0 passed, 0 failed, ${steps.length} skipped\n`)
  process.exit(0)
}
await runSteps(steps, async () => {
  for (const ctl of running) ctl.kill()
  await cluster?.stop()
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 })
})

// Runs the built package on the newest Node that it promises to run on: a server on the embedded datastore, a sign-in, a
// token, a small fleet, a stop in order, and the same data after another start. Node comes from the npm registry.
// The last line is for scripts: `N passed, N failed, N skipped`.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { root } from './lib/root.mjs'

const MAJOR = 24
const NODES = 3
const START_DEADLINE_MS = 120_000

const scratch = mkdtempSync(join(tmpdir(), 'ctl-node24-'))
const data = join(scratch, 'data')
const env = { ...process.env, CTL_CONFIG_DIR: join(scratch, 'config'), NO_COLOR: '1' }
let node = ''
let server

function assert(holds, sentence) {
  if (!holds) throw new Error(sentence)
}

/** The package of this platform; the variable names a Node that is there already. */
function installNode() {
  node = process.env.CTL_NODE24 ?? ''
  if (node === '') {
    const name = `node-${process.platform}-${process.arch}`
    const options = ['--no-audit', '--no-fund', '--no-save', '--loglevel=error']
    const { status, stderr } = spawnSync('npm', ['install', '--prefix', scratch, ...options, `${name}@${MAJOR}`], {
      encoding: 'utf8',
    })
    assert(status === 0, `npm could not install ${name}@${MAJOR}: ${stderr}`)
    node = join(scratch, 'node_modules', name, 'bin', 'node')
  }
  const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
  assert(stdout.startsWith(`v${MAJOR}.`), `${node} is ${stdout.trim() || 'no Node'}, not Node ${MAJOR}`)
  return stdout.trim()
}

const start = (args, stdin) => spawn(node, [join(root, 'bin/ctl.js'), ...args], { env, stdio: [stdin, 'pipe', 'pipe'] })

async function ctl(args, input) {
  const child = start(args, input === undefined ? 'ignore' : 'pipe')
  child.stdin?.end(input)
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  assert(code === 0, `ctl ${args.join(' ')} ended with ${code}: ${stderr}`)
  return stdout
}

/** Starts the server; resolves with its URL once it accepts requests. */
async function serve() {
  server = start(['serve', '--listen', '127.0.0.1:0', '--data-dir', data], 'ignore')
  let said = ''
  server.stderr.setEncoding('utf8').on('data', (chunk) => (said += chunk))
  const signal = AbortSignal.timeout(START_DEADLINE_MS)
  const ended = once(server, 'exit', { signal }).then(([code]) => {
    throw new Error(`ctl serve ended with ${code}: ${said}`)
  })
  ended.catch(() => undefined)
  const [line] = await Promise.race([once(createInterface(server.stdout), 'line', { signal }), ended])
  return JSON.parse(line).url
}

async function stop() {
  const ended = once(server, 'exit', { signal: AbortSignal.timeout(30_000) })
  server.kill('SIGTERM')
  const [code] = await ended
  assert(code === 0, `ctl serve ended with ${code} after SIGTERM`)
}

const login = async (url) =>
  ctl(['login', '--url', url, '--with-token'], readFileSync(join(data, 'bootstrap-token'), 'utf8'))

/** In order: each goes on with what the one before it left. */
const STEPS = [
  { name: 'Node is there', run: installNode },
  { name: 'the server starts on the embedded datastore', run: async () => login(await serve()) },
  { name: 'a token is issued', run: () => ctl(['tokens', 'issue', 'smoke', '--expires-in', '1h', '--jq', '.id']) },
  { name: 'nodes register and report', run: playFleet },
  { name: 'the server stops in order', run: stop },
  { name: 'another start has it all', run: findEverything },
]

async function playFleet() {
  const terms = ['--nodes', String(NODES), '--duration', '3s', '--heartbeat-interval', '1s']
  await ctl(['agent-sim', ...terms, '--fail-on', `errors>0,refusals>0,heartbeats<${NODES}`])
}

async function findEverything() {
  await login(await serve())
  const nodes = (await ctl(['nodes', 'list', '-o', 'name'])).trim().split('\n')
  assert(nodes.length === NODES, `${nodes.length} nodes are left of ${NODES}`)
  assert((await ctl(['tokens', 'list', '-o', 'name'])).includes('smoke'), 'the token is gone')
  await stop()
}

let passed = 0
let failed = 0
try {
  for (const { name, run } of STEPS) {
    const startedAt = Date.now()
    await run()
    passed += 1
    process.stdout.write(`ok      ${name} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)\n`)
  }
} catch (error) {
  failed = 1
  process.stdout.write(`FAILED  ${STEPS[passed].name}: ${error.message}\n`)
} finally {
  server?.kill('SIGKILL')
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 })
}
process.stdout.write(`${passed} passed, ${failed} failed, ${STEPS.length - passed - failed} skipped\n`)
process.exitCode = failed

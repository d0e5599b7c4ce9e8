// Runs the package on each Node that it promises to run on, two at once. On each: npm installs the packed tarball into an
// empty prefix without a warning of an engine or a deprecation; the installed command serves, signs in, plays a small fleet,
// stops in order and has everything after another start, without a warning of Node. The tests that start processes run on the
// newest, or on each with `CTL_TEST_DEPTH=deep`; on the Node of this machine the suite has run them. Node comes from the npm registry. Arguments are
// majors, such as `24`; all when there are none. The last line is for scripts: `N passed, N failed, N skipped`.
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createInstalledCtl } from './lib/installed-ctl.mjs'
import { installNode, installPackage, npmFolder, ownNode, pack, registrySettings, run } from './lib/package-manager.mjs'
import { spawnGroup } from './lib/process-group.mjs'
import { root } from './lib/root.mjs'
import { assert, runLanes } from './lib/steps.mjs'

/** The oldest that is supported, exactly, and the newest of each line behind it. A line that the registry lacks is left out. */
const VERSIONS = ['20.19.0', '22', '24', '26']
/** Lines of Node that are under way at once. Each waits for the registry, for starts and for stops half of the time. */
const LANES_MAX = 2
const NODES = 3
const FIRST_START_DEADLINE_MS = 180_000

/** Tests that start the built command: serving, signals, TLS, certificates that change, streams, simulated agents. */
const PROCESS_TESTS = ['stop', 'tls-self-signed', 'agent-streams', 'serve'].map((name) => `test/e2e/${name}.test.ts`)

/** What npm prints about a package that does not fit the Node, or that its author gave up. */
const COMPLAINT = /^npm warn (?:EBADENGINE|deprecated).*/m

const scratch = mkdtempSync(join(tmpdir(), 'ctl-nodes-'))
const running = []
let tarball = ''

function stepsOn(version) {
  const folder = join(scratch, version)
  const state = {}
  const unlessMissing = (work) => () => (state.node === undefined ? 'not in the registry, left out' : work(state))
  const steps = [
    { name: 'is in the registry', run: () => findNode(state, { version, folder }) },
    { name: 'installs without a complaint', run: unlessMissing(() => install(state, folder)) },
    { name: 'serves, stops and has it all after another start', run: unlessMissing(() => smoke(state)) },
  ]
  if (runsProcessTests(version))
    steps.push({
      name: 'passes the tests of processes',
      run: unlessMissing(inTurn(runProcessTests)),
    })
  return steps.map((step) => ({ ...step, name: `Node ${version} ${step.name}` }))
}

let turn = Promise.resolve()

/** One run of the tests at a time: they have three workers, and bounds of seconds. */
function inTurn(work) {
  return (state) => {
    const mine = turn.then(() => work(state))
    turn = mine.catch(() => undefined)
    return mine
  }
}

async function findNode(state, { version, folder }) {
  state.node = await installNode(version, folder)
  if (state.node === undefined) return 'not in the registry, left out'
  assert(state.node.version.startsWith(`v${version}`), `${state.node.node} is ${state.node.version}`)
  return state.node.version
}

async function install(state, folder) {
  const { script, output } = await installPackage(tarball, state.node, folder)
  const [complaint] = COMPLAINT.exec(output) ?? []
  assert(complaint === undefined, `npm install --global says: ${complaint}`)
  const home = join(folder, 'home')
  state.ctl = createInstalledCtl({ node: state.node.node, script, home, data: join(folder, 'data') })
  running.push(state.ctl)
}

async function smoke({ ctl }) {
  await ctl.login(await ctl.serve())
  await ctl.ctl(['tokens', 'issue', 'smoke', '--expires-in', '1h', '--jq', '.id'])
  const terms = ['--nodes', String(NODES), '--duration', '3s', '--heartbeat-interval', '1s']
  await ctl.ctl(['agent-sim', ...terms, '--fail-on', `errors>0,refusals>0,heartbeats<${NODES}`])
  await ctl.stop()
  await ctl.login(await ctl.serve())
  const nodes = (await ctl.ctl(['nodes', 'list', '-o', 'name'])).trim().split('\n')
  assert(nodes.length === NODES, `${nodes.length} nodes are left of ${NODES}`)
  assert((await ctl.ctl(['tokens', 'list', '-o', 'name'])).includes('smoke'), 'the token is gone')
  await ctl.stop()
}

/** The first start where nothing is installed; resolves once the server has ended in order. */
async function startByNpx(folder) {
  const { node, bin } = ownNode(folder)
  const home = join(folder, 'home')
  mkdirSync(home, { recursive: true })
  const command = ['ctl-mesh', 'serve', '--listen', '127.0.0.1:0', '--data-dir', join(folder, 'data')]
  const args = [join(await npmFolder(), 'bin/npm-cli.js'), 'exec', '--yes', '--package', tarball, '--', ...command]
  const env = { ...registrySettings(), HOME: home, PATH: `${bin}:${process.env.PATH}` }
  const { child, kill } = spawnGroup(node, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  running.push({ kill })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (chunk) => (said += chunk))
  const signal = AbortSignal.timeout(FIRST_START_DEADLINE_MS)
  const ended = once(child, 'exit', { signal })
  const early = ended.then(([code]) => {
    throw new Error(`npx ctl-mesh serve ended with ${code}: ${said}`)
  })
  early.catch(() => undefined)
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line', { signal }), early])
  const { pid } = JSON.parse(line)
  process.kill(pid, 'SIGTERM')
  const [code] = await ended
  assert(code === 0, `npx ctl-mesh serve ended with ${code} after SIGTERM: ${said}`)
  assert(said.includes('npx ctl-mesh login'), `the first start names another command: ${said}`)
  const [complaint] = COMPLAINT.exec(said) ?? []
  assert(complaint === undefined, `npx says: ${complaint}`)
}

/** The suite itself runs on the Node of this machine; of the other lines the newest is enough, unless the tests go deep. */
function runsProcessTests(version) {
  if (process.versions.node.startsWith(`${version.split('.')[0]}.`)) return false
  return version === VERSIONS.at(-1) || process.env.CTL_TEST_DEPTH === 'deep'
}

async function runProcessTests({ node: { node, bin } }) {
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` }
  const { code, stdout, stderr } = await run(node, [join(root, 'scripts/test.mjs'), ...PROCESS_TESTS], {
    cwd: root,
    env,
  })
  const named = stdout.split('\n').filter((line) => /^(?:FAILED|UNSTEADY) /.test(line))
  const result = /^(\d+) passed, \d+ failed, \d+ skipped$/m.exec(stdout)
  assert(code === 0, `the tests ended with ${code}: ${named.join('; ') || stderr.slice(-900)}`)
  assert(Number(result?.[1]) > 0, 'no test ran')
  return [result[0], ...named].join('; ')
}

const asked = process.argv.slice(2)
const unknown = asked.filter((major) => !VERSIONS.some((version) => version.split('.')[0] === major))
if (unknown.length > 0) {
  process.stderr.write(`Not a supported major: ${unknown.join(', ')}. Name some of ${VERSIONS.join(', ')}.\n`)
  process.exit(2)
}
const chosen = VERSIONS.filter((version) => asked.length === 0 || asked.includes(version.split('.')[0]))
const before = [{ name: 'the package is packed', run: async () => void (tarball = await pack(root, scratch)) }]
const npx = { name: 'npx starts the server where nothing is installed', run: () => startByNpx(join(scratch, 'npx')) }
// The longest lanes, with the tests of processes, start first.
const lanes = [...chosen.map(stepsOn).toReversed(), [npx]]
await runLanes({ before, lanes, lanesMax: LANES_MAX }, () => {
  for (const ctl of running) ctl.kill()
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 })
})

// Builds the container image of deploy/Containerfile from the packed tarball with buildah, on a base of Debian (mmdebstrap)
// and a Node of the npm registry, and runs it: as its user, in a network of its own, with the image's own entry point,
// health check and stop signal. Needs root with the right to make namespaces, buildah and mmdebstrap; removes all that it makes.
// The last line is for scripts: `N passed, N failed, N skipped`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { installNode, npmFolder, pack, run, runWell } from './lib/package-manager.mjs'
import { root } from './lib/root.mjs'
import { assert, runSteps } from './lib/steps.mjs'

/** The line of Node with long-term support that the documentation recommends. */
const NODE = '24'
/** Where Debian names its archive, in new and in old installations. */
const SOURCES = ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list']
/** The authorities that this machine trusts, for the registry behind a proxy. */
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'
/** What Node and deploy/Containerfile use of Debian; apt adds what these depend on. */
const PACKAGES = ['base-files', 'coreutils', 'dash', 'libstdc++6']
/** Where the official image of Node has npm. */
const NPM = 'usr/local/lib/node_modules/npm'
const START_DEADLINE_MS = 120_000
const STOP_DEADLINE_MS = 30_000

const scratch = mkdtempSync(join(tmpdir(), 'ctl-image-'))
const context = join(scratch, 'context')
const store = ['--root', join(scratch, 'store'), '--runroot', join(scratch, 'run'), '--storage-driver', 'vfs']
const state = {}

const buildah = (command, ...args) => runWell('buildah', [...store, command, ...args])

async function findPrograms() {
  assert(process.getuid() === 0, 'root is needed, for chroot and for namespaces: run it as root')
  for (const program of ['buildah', 'mmdebstrap', 'unshare', 'nsenter', 'ip']) {
    const { code } = await run('sh', ['-c', `command -v ${program}`])
    assert(code === 0, `${program} is missing: apt-get install buildah mmdebstrap util-linux iproute2`)
  }
  const { code, stderr } = await run('unshare', ['--net', '--pid', '--mount', '--fork', 'true'])
  assert(code === 0, `no namespaces can be made, which takes CAP_SYS_ADMIN: ${stderr.trim()}`)
}

/**
 * A base as the official image of Node has it: Debian, Node, and npm in `NPM`. The packages are unpacked and not configured:
 * nothing here needs that, and it takes the longest.
 */
async function makeBase() {
  const { codename } = /VERSION_CODENAME=(?<codename>\w+)/.exec(readFileSync('/etc/os-release', 'utf8')).groups
  state.hasStore = true
  const container = (await buildah('from', 'scratch')).trim()
  const folder = (await buildah('mount', container)).trim()
  const what = ['--mode=root', '--format=directory', '--variant=extract', `--include=${PACKAGES.join()}`]
  await runWell('mmdebstrap', ['--quiet', ...what, codename, folder, ...SOURCES.filter(existsSync)])
  const { node, version } = await installNode(NODE, join(scratch, 'node'))
  cpSync(node, join(folder, 'usr/local/bin/node'))
  await addNpm(folder)
  await buildah('commit', '--quiet', '--rm', container, 'localhost/ctl-base')
  return `Debian ${codename} with Node ${version}`
}

/** npm of this machine, with the registry and the authorities that it uses here. */
async function addNpm(folder) {
  const npm = join(folder, NPM)
  cpSync(await npmFolder(), npm, { recursive: true })
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(folder, 'usr/local/bin', name))
  const registry = (await runWell('npm', ['config', 'get', 'registry'], { cwd: scratch })).trim()
  const settings = [`registry=${registry}`]
  if (existsSync(CERTIFICATES)) {
    cpSync(CERTIFICATES, join(npm, 'authorities.pem'), { dereference: true })
    settings.push(`cafile=/${NPM}/authorities.pem`)
  }
  writeFileSync(join(npm, 'npmrc'), `${settings.join('\n')}\n`)
}

async function build() {
  await pack(root, context)
  // The health check is a member of Docker's format alone.
  const format = ['--isolation', 'chroot', '--format', 'docker', '--build-arg', 'BASE=localhost/ctl-base']
  const file = ['--file', join(root, 'deploy/Containerfile'), '--tag', 'localhost/ctl', context]
  await buildah('build', '--quiet', ...format, ...file)
  const images = JSON.parse(await buildah('images', '--json', 'localhost/ctl'))
  state.config = JSON.parse(await buildah('inspect', '--type', 'image', 'localhost/ctl')).Docker.config
  return `${images[0].size} with the base`
}

function checkConfig() {
  const { User, Entrypoint, Volumes, StopSignal, Healthcheck } = state.config
  assert(User === '1000:1000', `the image runs as ${User}`)
  assert(Entrypoint.join(' ') === '/usr/local/bin/ctl', `the entry point is ${Entrypoint.join(' ')}`)
  assert('/var/lib/ctl' in Volumes, 'the data directory is no volume')
  assert(StopSignal === 'SIGTERM', `the stop signal is ${StopSignal}`)
  assert(Healthcheck?.Test[0] === 'CMD', 'there is no health check')
}

/** The image as a folder, with the volume as an engine would make it. */
async function mount() {
  state.container = (await buildah('from', 'localhost/ctl')).trim()
  state.folder = (await buildah('mount', state.container)).trim()
  const left = [NPM, 'usr/local/bin/npm', 'usr/local/bin/npx', 'root/.npmrc', 'root/.npm', 'tmp/package']
  const found = left.filter((path) => lstatSync(join(state.folder, path), { throwIfNoEntry: false }) !== undefined)
  assert(found.length === 0, `the image has ${found.join(', ')}`)
  mkdirSync(join(state.folder, 'proc'), { recursive: true })
}

const environment = () => Object.fromEntries(state.config.Env.map((line) => line.split(/=(.*)/s).slice(0, 2)))
const chroot = () => ['chroot', '--userspec', state.config.User, state.folder]

/** Starts the command of the image as the first process of a container; resolves once the health check holds. */
async function start() {
  const namespaces = ['--net', '--pid', '--mount', '--fork', '--kill-child', `--mount-proc=${state.folder}/proc`]
  const command = [...state.config.Entrypoint, ...state.config.Cmd, '--insecure-http']
  const inside = ['sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...chroot(), ...command]
  const child = spawn('unshare', [...namespaces, ...inside], { env: environment(), stdio: ['ignore', 'pipe', 'pipe'] })
  state.server = { child, said: '', exit: once(child, 'exit') }
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (state.server.said += text))
  const deadline = Date.now() + START_DEADLINE_MS
  while (!(await isHealthy())) {
    assert(child.exitCode === null, `the container ended with ${child.exitCode}: ${state.server.said}`)
    assert(Date.now() < deadline, `the health check does not hold: ${state.server.said}`)
    await sleep(500)
  }
  const answer = await within('http://127.0.0.1:7443/readyz')
  assert(answer.startsWith('200 '), `/readyz answers ${answer}`)
  return '/readyz answers 200'
}

/** The first process of the container as this machine knows it; undefined before it is there. */
function firstProcess() {
  const { pid, exitCode, signalCode } = state.server.child
  if (exitCode !== null || signalCode !== null) return undefined
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return children === '' ? undefined : children.split(' ')[0]
}

async function exec(command) {
  const pid = firstProcess()
  if (pid === undefined) return { code: 1, stdout: '' }
  return run('nsenter', ['--target', pid, '--net', ...chroot(), ...command], { env: environment() })
}

const isHealthy = async () => (await exec(state.config.Healthcheck.Test.slice(1))).code === 0

async function within(url) {
  const script = `fetch('${url}').then(async (r) => console.log(r.status, (await r.text()).trim()))`
  return (await exec(['node', '-e', script])).stdout
}

async function checkRights() {
  const status = readFileSync(`/proc/${firstProcess()}/status`, 'utf8')
  assert(/^Uid:\s+1000\s+1000/m.test(status), 'the server does not run as 1000')
  const owned = await exec(['sh', '-c', 'test -O /var/lib/ctl/master.key && ! touch /opt/ctl/x 2>/dev/null'])
  assert(owned.code === 0, 'the server may write to its program, or does not own its data')
}

async function stop() {
  process.kill(Number(firstProcess()), state.config.StopSignal)
  const ended = await Promise.race([state.server.exit, sleep(STOP_DEADLINE_MS, undefined, { ref: false })])
  assert(ended !== undefined, `it does not end within ${STOP_DEADLINE_MS / 1_000} s`)
  assert(ended[0] === 0, `it ended with ${ended[0]}: ${state.server.said}`)
}

const steps = [
  { name: 'the machine can build and run an image', run: findPrograms },
  { name: 'the base is made', run: makeBase },
  { name: 'the image is built from the tarball', run: build },
  { name: 'it has a user, a volume, a health check and a stop signal', run: checkConfig },
  { name: 'it has no npm, no settings and no cache of npm', run: mount },
  { name: 'it starts and becomes healthy', run: start },
  { name: 'it runs without rights, and its data is its own', run: checkRights },
  { name: 'SIGTERM ends it in order', run: stop },
  { name: 'another container has the data', run: start },
  { name: 'and ends in order, too', run: stop },
]
await runSteps(steps, async () => {
  state.server?.child.kill('SIGKILL')
  if (state.hasStore) await run('buildah', [...store, 'umount', '--all'])
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 })
})

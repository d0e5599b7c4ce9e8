// Builds the container image of deploy/Containerfile from the packed tarball with buildah, on a base of Debian (mmdebstrap)
// and a Node of the npm registry, and runs it: as its user, in a network of its own, with the image's own entry point,
// health check and stop signal. Needs root, buildah and mmdebstrap; nothing of it is left behind.
// The last line is for scripts: `N passed, N failed, N skipped`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { installNode, npmFolder, pack, run, runWell } from './lib/package-manager.mjs'
import { root } from './lib/root.mjs'
import { assert, runSteps } from './lib/steps.mjs'

/** The line of Node with long-term support that the documentation recommends. */
const NODE = '24'
const SOURCES = '/etc/apt/sources.list.d/debian.sources'
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'
const NPM = '/usr/local/lib/node_modules/npm'
const START_DEADLINE_MS = 120_000
const STOP_DEADLINE_MS = 30_000

const scratch = mkdtempSync(join(tmpdir(), 'ctl-image-'))
const context = join(scratch, 'context')
const store = ['--root', join(scratch, 'store'), '--runroot', join(scratch, 'run'), '--storage-driver', 'vfs']
const state = {}

const buildah = (command, ...args) => runWell('buildah', [...store, command, ...args])

/** Resolves when the programs are there. */
async function findPrograms() {
  const { code } = await run('sh', ['-c', 'command -v buildah mmdebstrap unshare nsenter'])
  assert(code === 0 && process.getuid() === 0, 'it takes root, and apt-get install buildah mmdebstrap util-linux')
}

/** The smallest Debian that Node runs on: no package manager's lists, manuals or translations. */
async function makeBase() {
  const tar = join(scratch, 'base.tar')
  const left = ['/usr/share/doc/*', '/usr/share/man/*', '/usr/share/locale/*', '/usr/share/info/*']
  const excluded = left.map((path) => `--dpkgopt=path-exclude=${path}`)
  // Nothing of it has to survive a loss of power.
  excluded.push('--dpkgopt=force-unsafe-io')
  const { codename } = /VERSION_CODENAME=(?<codename>\w+)/.exec(readFileSync('/etc/os-release', 'utf8')).groups
  const packages = '--include=libstdc++6,ca-certificates'
  await runWell('mmdebstrap', [
    '--quiet',
    '--mode=root',
    '--variant=essential',
    packages,
    ...excluded,
    codename,
    tar,
    SOURCES,
  ])
  const { node, version } = await installNode(NODE, join(scratch, 'node'))
  const container = (await buildah('from', 'scratch')).trim()
  await buildah('add', '--quiet', container, tar, '/')
  await buildah('copy', '--quiet', '--chmod', '0755', container, node, '/usr/local/bin/node')
  await buildah('commit', '--quiet', '--rm', container, 'localhost/ctl-base')
  rmSync(tar)
  return `Debian ${codename} with Node ${version}`
}

async function build() {
  await pack(root, context)
  const npmrc = join(scratch, 'npmrc')
  const registry = (await runWell('npm', ['config', 'get', 'registry'], { cwd: scratch })).trim()
  writeFileSync(npmrc, `registry=${registry}\ncafile=${CERTIFICATES}\n`)
  const binds = [`${await npmFolder()}:${NPM}:ro`, `${npmrc}:/root/.npmrc:ro`, `${CERTIFICATES}:${CERTIFICATES}:ro`]
  const volumes = binds.flatMap((bind) => ['--volume', bind])
  // The health check is a member of Docker's format alone.
  const format = ['--isolation', 'chroot', '--format', 'docker', '--build-arg', 'BASE=localhost/ctl-base']
  const file = ['--file', join(root, 'deploy/Containerfile'), '--tag', 'localhost/ctl', context]
  await buildah('build', '--quiet', ...format, ...volumes, ...file)
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
  const { code, stdout } = await run('chroot', [state.folder, 'test', '-e', NPM])
  assert(code !== 0, `npm is in the image: ${stdout}`)
  assert(!existsSync(join(state.folder, 'root/.npmrc')), 'the settings of npm are in the image')
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
  return `/readyz answers ${answer.trim()}`
}

/** The first process of the container as this machine knows it; undefined before it is there. */
function firstProcess() {
  const { pid } = state.server.child
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
  { name: 'buildah and mmdebstrap are there', run: findPrograms },
  { name: 'the base is made', run: makeBase },
  { name: 'the image is built from the tarball', run: build },
  { name: 'it has a user, a volume, a health check and a stop signal', run: checkConfig },
  { name: 'it holds neither npm nor its settings', run: mount },
  { name: 'it starts and becomes healthy', run: start },
  { name: 'it runs without rights, and its data is its own', run: checkRights },
  { name: 'SIGTERM ends it in order', run: stop },
  { name: 'another container has the data', run: start },
  { name: 'and ends in order, too', run: stop },
]
await runSteps(steps, async () => {
  state.server?.child.kill('SIGKILL')
  await run('buildah', [...store, 'umount', '--all'])
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 })
})

import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { HIGH_RATE_LIMITS } from '../../support/server/high-rate-limits.mjs'

export const CTL = fileURLToPath(new URL('../../../bin/ctl.js', import.meta.url))
const BASELINE = fileURLToPath(new URL('./bare-fastify.mjs', import.meta.url))
const EMPTY = fileURLToPath(new URL('./empty-server.mjs', import.meta.url))
const GROUP_COMMIT = fileURLToPath(new URL('./group-commit-server.mjs', import.meta.url))
const ENGINE = fileURLToPath(new URL('./empty-engine.mjs', import.meta.url))
const BYTES = fileURLToPath(new URL('./bare-bytes.mjs', import.meta.url))

/**
 * Starts `ctl serve` on a free port with an empty store; `databaseUrl` undefined takes the embedded one. A `directory` that is given
 * has its files, and is kept. `args`: further ones of `ctl serve`. `prefix`: words before the command that run what follows them.
 */
export async function startCtl(options = {}) {
  const { databaseUrl, env = {}, directory: given, listen = '127.0.0.1:0', args = [], prefix = [] } = options
  const directory = given ?? (await mkdtemp(join(tmpdir(), 'ctl-bench-')))
  const tokenFile = join(directory, 'token')
  const listeners = ['--listen', listen, '--ops-listen', '127.0.0.1:0']
  const places = [...listeners, '--data-dir', join(directory, 'data'), '--bootstrap-token-file', tokenFile]
  const [program, ...words] = [
    ...prefix,
    process.execPath,
    ...(process.env.BENCH_NODE_ARGS?.split(' ') ?? []),
    CTL,
    'serve',
    ...places,
    ...args,
  ]
  const child = spawn(program, words, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      ...HIGH_RATE_LIMITS,
      ...(databaseUrl && {
        SERVICE_DATABASE_URL: databaseUrl,
        SERVICE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      }),
      ...env,
    },
  })
  const ready = await firstLine(child)
  return {
    url: ready.url,
    opsUrl: ready.ops_url,
    pid: child.pid,
    token: await tokenIn(tokenFile),
    /** Ends it without a chance to say goodbye. Its files stay. */
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
    async stop() {
      child.kill('SIGTERM')
      await once(child, 'exit')
      if (given === undefined) await rm(directory, { recursive: true, force: true })
    },
  }
}

/** The token of the first start; undefined on a database that another server has made. */
async function tokenIn(file) {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Starts the baseline of large answers: bare Fastify that sends the bytes of a file. */
export function startBytes(file) {
  return startBare(BYTES, [file])
}

/** Starts the baseline: bare Fastify answering the same JSON to a POST of the same body. */
export function startBaseline({ path, answer }) {
  return startBare(BASELINE, [path, JSON.stringify(answer)])
}

/** Starts the baseline of a read: Fastify that sends the rows of a statement, with one argument or none (`''`). */
export function startEmpty({ databaseUrl, path, statement, argument }) {
  return startBare(EMPTY, [databaseUrl, path, statement, argument])
}

/** Starts the baseline of reports: Fastify that commits what is posted in groups, with one statement. */
export function startGroupCommit({ databaseUrl, path, statement }) {
  return startBare(GROUP_COMMIT, [databaseUrl, path, statement])
}

/** Starts the baseline of memory: the engine of the embedded store alone. */
export function startEmptyEngine() {
  return startBare(ENGINE, [])
}

async function startBare(script, args) {
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ready = await firstLine(child)
  return {
    url: ready.url,
    pid: child.pid,
    async stop() {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

async function firstLine(child) {
  const complaints = []
  child.stderr?.on('data', (chunk) => complaints.push(chunk))
  const lines = createInterface({ input: child.stdout })
  const ended = once(child, 'exit').then(() => {
    throw new Error(`the server ended before it was ready:\n${Buffer.concat(complaints).toString()}`)
  })
  const [line] = await Promise.race([once(lines, 'line'), ended])
  child.stdout.resume()
  ended.catch(() => undefined)
  return JSON.parse(line)
}

/** Calls the API with JSON; throws on any status that is not a success. */
export async function callApi(server, method, path, { body, token = server.token } = {}) {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

/** Enrols so many nodes into the caller's Domain, or a Project of it, some of them at a time. */
export async function registerNodes(server, count, { atOnce, projectId }) {
  const { domain_id: domainId } = await callApi(server, 'GET', '/v1/auth/whoami')
  const nodes = []
  let next = 0
  const enrolSome = async () => {
    while (next < count) {
      const first = next
      next = Math.min(count, next + USES_MAX)
      const body = { max_uses: next - first, ...(projectId && { project_id: projectId }) }
      const { token } = await callApi(server, 'POST', `/v1/domains/${domainId}/join-tokens`, { body })
      for (let index = first; index < Math.min(count, first + USES_MAX); index++) {
        const publicKey = generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'der' }).subarray(12)
        const node = { name: `bench-${index}`, kind: 'worker', public_key: publicKey.toString('base64') }
        nodes.push(await callApi(server, 'POST', '/v1/nodes/register', { token, body: node }))
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, enrolSome))
  return nodes
}

const USES_MAX = 100

/** Reads counters and gauges from `/metrics`, by name with labels. */
export async function readMetrics(server) {
  const text = await (await fetch(`${server.opsUrl}/metrics`)).text()
  const entries = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))])
  return Object.fromEntries(entries)
}

/** Reads them once every audit row that was queued is written, dropped or failed: two readings in a row agree. */
export async function readSettledMetrics(server) {
  let before = ''
  for (let reading = 0; reading < READINGS_MAX; reading++) {
    const metrics = await readMetrics(server)
    const rows = JSON.stringify(Object.entries(metrics).filter(([name]) => name.startsWith('audit_rows_')))
    if (rows === before) return metrics
    before = rows
    await sleep(AUDIT_FLUSH_MS)
  }
  throw new Error('the audit rows do not settle')
}

/** Longer than queued rows wait for others. */
const AUDIT_FLUSH_MS = 200
const READINGS_MAX = 100

/** Processor time that a process has used, all threads, in ms. Linux alone. */
export async function processorMsOf(pid) {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

/** USER_HZ is 100 on every Linux that Node.js runs on. */
const TICK_MS = 10

/** Resident memory of a process now and at its peak, in MB. */
export async function memoryOf(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const kilobytes = (member) => Number(new RegExp(`${member}:\\s+(\\d+)`).exec(status)?.[1] ?? Number.NaN)
  return { nowMb: Math.round(kilobytes('VmRSS') / 1024), peakMb: Math.round(kilobytes('VmHWM') / 1024) }
}

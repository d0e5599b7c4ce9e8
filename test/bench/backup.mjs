// A backup of the embedded datastore with a million audit rows, beside heartbeats that come at a steady pace: how long it
// takes, how long heartbeats and the longest write wait meanwhile; then how long its restore and its verification take.
// `--rows=N` (1000000), `--keep=DIR` keeps the filled store.
import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { callApi, CTL, memoryOf, startCtl } from './support/servers.mjs'
import { printRecord, printTable } from './support/report.mjs'

const NODES = 50
const PAUSE_MS = 500
const BEFORE_MS = 10_000
/** Rows that may wait for their seal before the measurement begins, and how long they may take. */
const UNSEALED_MAX = 1_000
const SEALING_MS_MAX = 3_600_000
const SEALED_LOOK_MS = 2_000
const GOALS = { seconds: 60, p99Ms: 150, stopMs: 200, proofSeconds: 120 }

const valueOf = (args, name) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3)

export async function run(args) {
  const rows = Number(valueOf(args, 'rows') ?? 1_000_000)
  const kept = valueOf(args, 'keep')
  const directory = kept ?? (await mkdtemp(join(tmpdir(), 'ctl-bench-backup-')))
  try {
    if (!existsSync(join(directory, 'data', 'database'))) {
      await fill(directory, rows)
      await seal(directory)
    }
    await measure(directory, rows)
  } finally {
    if (kept === undefined) await rm(directory, { recursive: true, force: true })
  }
}

/** Lets a server make the store, then adds rows as the server writes them, but faster than it would. */
async function fill(directory, rows) {
  await (await startCtl({ directory })).stop()
  const { openPglite } = await import('../../dist/server/adapters/pglite/database.js')
  const datastore = await openPglite({ dataDir: join(directory, 'data') })
  const db = datastore.pool('bulk')
  const step = 20_000
  for (let from = 0; from < rows; from += step) {
    await sql`
      insert into audit (id, at, domain_id, subject, relation, object, outcome, reason, correlation_id, context)
      select gen_random_uuid(), timestamptz '2026-01-01' + i * interval '1 second', (select id from domains limit 1),
        'node:' || md5((i % 500)::text), 'node.heartbeat', 'node:' || md5((i % 500)::text), 'granted', 'granted',
        gen_random_uuid()::text, jsonb_build_object('source_address', '10.0.0.' || i % 250, 'operation', 'PostNodeHeartbeat')
      from generate_series(${from}::bigint, ${Math.min(from + step, rows) - 1}::bigint) as i`.execute(db)
  }
  await sql.raw('vacuum analyze audit').execute(db)
  await sql.raw('checkpoint').execute(db)
  await datastore.close()
}

/** Lets a server seal the rows, as it does with those of its own, so that a verification has them all to follow. */
async function seal(directory) {
  const server = await startFilled(directory)
  const { domain_id: domainId } = await callApi(server, 'GET', '/v1/auth/whoami')
  const giveUpAtMs = performance.now() + SEALING_MS_MAX
  for (;;) {
    const { unsealed } = await callApi(server, 'GET', `/v1/audit/verify?domain_id=${domainId}`)
    if (unsealed < UNSEALED_MAX) break
    if (performance.now() > giveUpAtMs) throw new Error(`${unsealed} audit rows are not sealed yet`)
    await sleep(SEALED_LOOK_MS)
  }
  await server.stop()
  await rm(join(directory, 'token'), { force: true })
}

async function measure(directory, rows) {
  await rm(join(directory, 'token'), { force: true })
  const server = await startFilled(directory)
  const nodes = await register(server)
  const load = startHeartbeats(server, nodes)
  await sleep(BEFORE_MS)
  const before = load.take()
  const file = join(directory, 'bench.ctlbackup')
  const seconds = await secondsOf(() =>
    admin('backup', 'create', file, '--data-dir', join(directory, 'data'), '--force'),
  )
  const during = load.take()
  await load.stop()
  const memory = await memoryOf(server.pid)
  const { size } = await stat(file)
  await server.stop()
  const proof = await prove(directory, file)
  await rm(file)
  report({ rows, seconds, size, before, during, memory, proof })
}

/** The bootstrap token of the first start is gone: another is issued beside the stopped server. */
async function startFilled(directory) {
  const token = await admin('bootstrap-token', '--data-dir', join(directory, 'data'))
  await writeFile(join(directory, 'token'), token, { mode: 0o600 })
  return startCtl({ directory })
}

/** Runs `ctl admin …`. Resolves with what it printed. */
async function admin(...words) {
  const child = spawn(process.execPath, [CTL, 'admin', ...words], { stdio: ['ignore', 'pipe', 'inherit'] })
  const printed = text(child.stdout)
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`ctl admin ${words.join(' ')} failed:\n${await printed}`)
  return printed
}

async function secondsOf(work) {
  const beganMs = performance.now()
  await work()
  return (performance.now() - beganMs) / 1000
}

/** Restores the backup into an empty place, and verifies it, with no server beside. */
async function prove(directory, file) {
  const place = join(directory, 'restored')
  const key = ['--master-key-file', join(directory, 'data', 'master.key')]
  await rm(place, { recursive: true, force: true })
  const restore = await secondsOf(() => admin('backup', 'restore', file, '--data-dir', place, ...key))
  await rm(place, { recursive: true, force: true })
  const verify = await secondsOf(() =>
    admin('backup', 'verify', file, '--scratch-dir', directory, '--data-dir', place, ...key),
  )
  return { restore, verify }
}

async function register(server) {
  const { domain_id: domainId } = await callApi(server, 'GET', '/v1/auth/whoami')
  const { token } = await callApi(server, 'POST', `/v1/domains/${domainId}/join-tokens`, { body: { max_uses: NODES } })
  const nodes = []
  for (let index = 0; index < NODES; index++) {
    const publicKey = generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'der' }).subarray(12)
    const body = { name: `bench-${Date.now()}-${index}`, kind: 'worker', public_key: publicKey.toString('base64') }
    nodes.push(await callApi(server, 'POST', '/v1/nodes/register', { token, body }))
  }
  return nodes
}

/** Each node posts at its own times, whether or not the last answer came: a stop shows in all that wait for it. */
function startHeartbeats(server, nodes) {
  let taken = []
  let failures = 0
  const running = new Set()
  async function beat(node) {
    const beganMs = performance.now()
    const body = { client_now: new Date().toISOString(), binary_checksum: 'ab'.repeat(32), binary_version: '1.0.0' }
    try {
      const response = await fetch(`${server.url}/v1/nodes/${node.node_id}/heartbeat`, {
        method: 'POST',
        headers: { authorization: `Bearer ${node.nsk}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      await response.arrayBuffer()
      if (response.status !== 200) failures += 1
    } catch {
      failures += 1
    }
    taken.push(performance.now() - beganMs)
  }
  const timers = nodes.map((node, index) =>
    setTimeout(
      () => {
        timers[index] = setInterval(() => {
          const one = beat(node).finally(() => running.delete(one))
          running.add(one)
        }, PAUSE_MS)
      },
      (index * PAUSE_MS) / nodes.length,
    ),
  )
  return {
    take() {
      const sorted = taken.toSorted((a, b) => a - b)
      taken = []
      const at = (share) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
      return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1), failures }
    },
    async stop() {
      for (const timer of timers) clearInterval(timer)
      await Promise.all(running)
    },
  }
}

function report({ rows, seconds, size, before, during, memory, proof }) {
  printTable(
    ['when', 'heartbeats', 'p50 ms', 'p99 ms', 'longest ms', 'failures'],
    [
      ['before', before.count, before.p50, before.p99, before.max, before.failures],
      ['during the backup', during.count, during.p50, during.p99, during.max, during.failures],
      ['goals', '', '', GOALS.p99Ms, GOALS.stopMs, 0],
    ],
  )
  printTable(
    ['audit rows', 'seconds', 'goal', 'file MB', 'rss peak MB'],
    [[rows, seconds.toFixed(1), GOALS.seconds, Math.round(size / 1e6), memory.peakMb]],
  )
  const { restore, verify } = proof
  printTable(
    ['restore s', 'verify s', 'together s', 'goal'],
    [[restore.toFixed(1), verify.toFixed(1), (restore + verify).toFixed(1), GOALS.proofSeconds]],
  )
  printRecord({
    bench: 'backup',
    rows,
    seconds: Number(seconds.toFixed(1)),
    file_mb: Math.round(size / 1e6),
    before_p99_ms: before.p99,
    during_p99_ms: during.p99,
    longest_write_ms: during.max,
    failures: during.failures,
    rss_peak_mb: memory.peakMb,
    restore_seconds: Number(restore.toFixed(1)),
    verify_seconds: Number(verify.toFixed(1)),
  })
}

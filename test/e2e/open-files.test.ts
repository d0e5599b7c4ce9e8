import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { runCtl, startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { startPostgresCluster, type PostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { openRawSocket, requestBytes, type RawSocket } from '../support/network/raw-socket.ts'
import { startSimulation } from '../support/fleet/simulation.ts'
import { openRawStream, type RawStream } from '../support/network/raw-stream.ts'
import { callServer, enrol, heartbeatOf, metricOf, type EnrolledNode } from '../support/server/replicas.ts'
import { requirement } from '../support/run/requirements.mjs'

const WAIT = { interval: 20, timeout: 30_000 }
const OPEN_FILES = 200
const NODES = 45
const FLEET = 80
/** Fewer than a node may have. */
const STREAMS_OF_NODE = 4
/** Connections at once: no more than the server accepts beside streams. */
const AT_ONCE = 15
const FLOOD_MAX = 5_000
/** The server takes some 300 MB before. */
const MEMORY_BYTES_MAX = 900 * 1024 * 1024

describe.skipIf(requirement('postgresql') === undefined)('a server that may open 200 files', () => {
  let folder: string
  let cluster: PostgresCluster
  let server: CtlProcess
  let token: string
  let domainId: string
  let nodes: readonly EnrolledNode[]
  const streams: RawStream[] = []
  const silent: RawSocket[] = []
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ctl-files-'))
    cluster = await startPostgresCluster({ isDurable: false })
    server = await startCtl({
      openFiles: OPEN_FILES,
      args: ['--data-dir', join(folder, 'data'), '--bootstrap-token-file', join(folder, 'token')],
      env: {
        SERVICE_DATABASE_URL: cluster.url,
        SERVICE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        SERVICE_OPS_LISTEN: '127.0.0.1:0',
      },
    })
    token = readFileSync(join(folder, 'token'), 'utf8').trim()
    const whoami = await callServer(server, { token, path: '/v1/auth/whoami' })
    domainId = String(whoami.body['domain_id'])
    nodes = await enrol(server, { token, domainId, nodes: NODES })
  }, 180_000)
  afterAll(async () => {
    for (const one of [...streams, ...silent]) one.destroy()
    await server?.end('SIGKILL')
    await cluster?.stop()
    rmSync(folder, { recursive: true, force: true })
  }, 180_000)

  /** Asks for a stream of the node. Resolves with the head of the answer; empty where the connection was closed without one. */
  async function open({ id, nsk }: EnrolledNode): Promise<{ readonly stream: RawStream; readonly head: string }> {
    const stream = await openRawStream(Number(new URL(server.url).port))
    stream.send(requestBytes(`GET /v1/nodes/${id}/events`, { Authorization: `Bearer ${nsk}` }))
    await expect.poll(() => stream.text().includes('\r\n\r\n') || !stream.isOpen(), WAIT).toBe(true)
    return { stream, head: stream.text().split('\r\n\r\n')[0] ?? '' }
  }

  const ops = async (path: string): Promise<Response> =>
    fetch(`${server.opsUrl}${path}`, { signal: AbortSignal.timeout(20_000) })

  /** All nodes report, a few at once. Resolves with what they were answered. */
  async function heartbeats(): Promise<ReadonlySet<number>> {
    const statuses = await inTurns(nodes, async (node) => (await callServer(server, heartbeatOf(node))).status)
    return new Set(statuses)
  }

  it('warns at the start', () => {
    expect(server.stderr()).toContain(
      'the limit of 200 open files is low: raise it (LimitNOFILE, ulimit -n), or add replicas',
    )
  })

  it('refuses streams that would use its reserve, while nodes report and the datastore works', async () => {
    const asked = Array.from({ length: STREAMS_OF_NODE }, () => nodes).flat()
    const heads = await inTurns(asked, async (node) => {
      const { stream, head } = await open(node)
      if (head.startsWith('HTTP/1.1 200 ')) streams.push(stream)
      else await stream.closed()
      return { head, text: stream.text() }
    })
    const refused = heads.filter(({ head }) => !head.startsWith('HTTP/1.1 200 '))
    expect(streams.length).toBeGreaterThan(20)
    expect(streams.length).toBeLessThan(100)
    expect(streams.length + refused.length).toBe(NODES * STREAMS_OF_NODE)
    for (const { head, text } of refused) {
      expect(head).toMatch(/^HTTP\/1\.1 503 [^]*retry-after: (?:1[5-9]|[2-5]\d)\r\n/i)
      expect(text).toContain('"code":"overloaded"')
    }
    expect(await heartbeats()).toEqual(new Set([200]))
    expect(streams.filter((stream) => !stream.isOpen())).toEqual([])
    expect((await callServer(server, { token, path: '/v1/auth/whoami' })).status).toBe(200)
  }, 120_000)

  it('says so to /readyz and ctl doctor, which warns', async () => {
    const readyz = (await (await fetch(`${server.url}/readyz`)).json()) as { status: string; unprobed: unknown[] }
    expect(readyz).toMatchObject({
      status: 'ready',
      unprobed: [{ name: 'open-files', ok: false, detail: 'new event streams are refused: too many files are open' }],
    })
    const env = { CTL_URL: server.url, CTL_TOKEN: token, CTL_CONFIG_DIR: folder }
    const { exitCode, stdout } = await runCtl(['doctor', '-o', 'json'], env)
    const findings = JSON.parse(stdout) as readonly { check: string }[]
    expect([exitCode, findings.find(({ check }) => check === 'open-files')]).toMatchObject([0, { status: 'warning' }])
  }, 180_000)

  it('keeps light agents at work whose streams are refused: every node reports and pulls, and none becomes stale', async () => {
    const env = { CTL_URL: server.url, CTL_TOKEN: token, CTL_CONFIG_DIR: folder }
    const fleet = ['--light', '--nodes', String(FLEET), '--connections', 'own', '--concurrency', '4']
    const pace = ['--duration', '5m', '--heartbeat-interval', '2s', '--pulls', '600%/min']
    const running = startSimulation(env, [...fleet, ...pace, '-o', 'json'])
    await expect.poll(running.progress, { timeout: 90_000 }).toContain('"phase":"running"')
    const path = `/v1/nodes?domain_id=${domainId}&reachability=healthy&limit=${FLEET + NODES}`
    const healthy = async (): Promise<number> => {
      const { items } = (await callServer(server, { token, path })).body as { items: { display_name: string }[] }
      return items.filter(({ display_name: name }) => name.startsWith('sim-')).length
    }
    // A busy machine may refuse to enrol a few.
    const enrolled = Number(/"phase":"running","nodes":(\d+)/.exec(running.progress())?.[1])
    expect(enrolled).toBeGreaterThan(FLEET / 2)
    await expect.poll(healthy, { interval: 500, timeout: 60_000 }).toBe(enrolled)
    await expect.poll(running.progress, WAIT).toMatch(/"pulled_bytes":[1-9]/)
    running.interrupt()
    const { failures, ...counts } = JSON.parse((await running.ended).stdout) as {
      failures: readonly { operation: string }[]
      retries: number
    }
    expect(failures.filter(({ operation }) => operation !== 'register')).toEqual([])
    expect(counts).toMatchObject({ streams: 0, refusals: 0 })
    // The first try of each stream.
    expect(counts.retries).toBeGreaterThanOrEqual(enrolled)
  }, 240_000)

  it('closes connections that would use the last reserve, and goes on: health, metrics, datastore, open streams', async () => {
    const port = Number(new URL(server.url).port)
    for (let count = 0; count < OPEN_FILES; count += 1) silent.push(await openRawSocket(port))
    const left = silent.filter((socket) => socket.isOpen())
    await expect.poll(() => left.filter((socket) => socket.isOpen()).length, WAIT).toBeLessThan(OPEN_FILES / 2)
    const statuses = await Promise.all(['/livez', '/readyz', '/metrics'].map(async (path) => (await ops(path)).status))
    expect(statuses).toEqual([200, 200, 200])
    expect(await (await ops('/readyz')).json()).toMatchObject({ status: 'ready' })
    expect(await (await ops('/metrics')).text()).toMatch(/^overload_refusals_total\{reason="accept"\} [1-9]/m)
    expect(await metricOf(server, 'process_open_fds')).toBeLessThan(OPEN_FILES - 20)
    expect(streams.filter((stream) => !stream.isOpen())).toEqual([])
  }, 120_000)

  it('does not spin meanwhile', async () => {
    const [startedMs, before] = [performance.now(), await metricOf(server, 'process_cpu_seconds_total')]
    await sleep(3_000)
    const usedSeconds = (await metricOf(server, 'process_cpu_seconds_total')) - before
    expect(usedSeconds / ((performance.now() - startedMs) / 1000)).toBeLessThan(0.6)
  }, 180_000)

  it('survives a flood of requests whose answers are not read: health, new logins, datastore, open streams, memory', async () => {
    for (const socket of silent.splice(0)) socket.destroy()
    const ending = new AbortController()
    const flood = floodUnread(Number(new URL(server.url).port), token, ending.signal)
    const begun = async (): Promise<number> =>
      (await callServer(server, { token: '', method: 'POST', path: '/v1/auth/device-code', body: {} })).status
    const joinTokens = `/v1/domains/${domainId}/join-tokens`
    const issued = async (): Promise<number> =>
      (await callServer(server, { token, method: 'POST', path: joinTokens, body: { max_uses: 1 } })).status
    const health = async (): Promise<unknown> => (await fetch(`${server.url}/readyz`)).json()
    // A connection that comes at a moment without room is closed.
    await vi.waitFor(async () => expect(await health()).toMatchObject({ status: 'ready' }), WAIT)
    await vi.waitFor(async () => expect(await begun()).toBe(200), WAIT)
    await vi.waitFor(async () => expect(await issued()).toBe(201), WAIT)
    const inTurn: number[] = []
    for (const path of ['/livez', '/readyz', '/metrics', '/livez', '/readyz', '/metrics'])
      inTurn.push((await ops(path)).status)
    expect(inTurn).toEqual(Array(6).fill(200))
    expect(await metricOf(server, 'process_open_fds')).toBeLessThan(OPEN_FILES - 20)
    ending.abort()
    expect(await flood).toBeGreaterThan(OPEN_FILES)
    expect(await metricOf(server, 'process_resident_memory_bytes')).toBeLessThan(MEMORY_BYTES_MAX)
    expect(streams.filter((stream) => !stream.isOpen())).toEqual([])
  }, 120_000)

  it('accepts streams again once others have ended', async () => {
    for (const socket of silent) socket.destroy()
    for (const stream of streams.splice(0, streams.length / 2)) stream.destroy()
    const opened = async (): Promise<string> => {
      const { stream, head } = await open(nodes[0] as EnrolledNode)
      if (head.startsWith('HTTP/1.1 200 ')) streams.push(stream)
      return head.slice(0, 12)
    }
    await expect.poll(opened, { ...WAIT, interval: 250 }).toBe('HTTP/1.1 200')
    expect(await heartbeats()).toEqual(new Set([200]))
    for (const stream of streams.splice(0)) stream.destroy()
    expect(await server.end('SIGTERM')).toBe(0)
    expect(server.stderr()).not.toMatch(/EMFILE|ENFILE/)
  }, 120_000)
})

/** Asks for a large answer on ever new connections and reads nothing. The oldest make room for new ones. Resolves with how many there were. */
async function floodUnread(port: number, token: string, until: AbortSignal): Promise<number> {
  const open: RawStream[] = []
  let opened = 0
  while ((!until.aborted || opened <= OPEN_FILES) && opened < FLOOD_MAX) {
    const stream = await openRawStream(port)
    stream.pause()
    stream.send(requestBytes('GET /v1/openapi.json', { Authorization: `Bearer ${token}` }))
    open.push(stream)
    opened += 1
    if (open.length > 2 * OPEN_FILES) open.shift()?.destroy()
    await sleep(2)
  }
  for (const stream of open) stream.destroy()
  return opened
}

/** Works on all, so many at once. */
async function inTurns<T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let from = 0; from < all.length; from += AT_ONCE)
    results.push(...(await Promise.all(all.slice(from, from + AT_ONCE).map(work))))
  return results
}

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { runCtl, startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { canMount, mountSmallDisk, type SmallDisk } from '../support/datastores/small-disk.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const MIB = 1024 * 1024
const SOON = { timeout: 20_000, interval: 100 }

/** An operator who issues API tokens, and remembers those that the server acknowledged. */
interface Operator {
  readonly acknowledged: string[]
  /** Issues a token; the status that came back. */
  write(): Promise<{ status: number; code: unknown }>
  read(): Promise<number>
  readiness(): Promise<unknown>
  /** Which acknowledged tokens do not sign in. */
  lost(server: CtlProcess): Promise<readonly string[]>
}

function operatorOf(server: CtlProcess, dataDir: string): Operator {
  const authorization = `Bearer ${readFileSync(join(dataDir, 'bootstrap-token'), 'utf8').trim()}`
  const acknowledged: string[] = []
  return {
    acknowledged,
    async write() {
      const response = await fetch(`${server.url}/v1/auth/tokens`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: '{"name":"disk"}',
      })
      const body = (await response.json()) as Record<string, unknown>
      if (response.status === 201) acknowledged.push(String(body['token']))
      return { status: response.status, code: body['code'] }
    },
    read: async () => (await fetch(`${server.url}/v1/domains`, { headers: { authorization } })).status,
    readiness: async () => (await fetch(`${server.url}/readyz`)).json(),
    async lost(after) {
      const lost: string[] = []
      for (const token of acknowledged) {
        const headers = { authorization: `Bearer ${token}` }
        if ((await fetch(`${after.url}/v1/auth/whoami`, { headers })).status !== 200) lost.push(token)
      }
      return lost
    },
  }
}

const READ_ONLY = { name: 'db-primary', ok: false, informational: true, detail: 'it is read-only: it takes no writes' }
const readyWith = (probe: object) => ({ status: 'degraded', probes: [probe, { name: 'embedded-engine', ok: true }] })
/** No answer: the connection was lost. */
const CUT = { status: 0, code: undefined }
const linesWith = (server: CtlProcess, text: string): number => server.stderr().split(text).length - 1

/** What the command said apart from its log. */
const sentences = (stderr: string): readonly string[] =>
  stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))

async function issueTokens(operator: Operator, count: number): Promise<void> {
  for (let each = 0; each < count; each++) expect(await operator.write()).toMatchObject({ status: 201 })
}

describe.skipIf(!canMount())('on a disk that fills up', () => {
  let disk: SmallDisk
  let data: string
  let server: CtlProcess | undefined
  beforeEach(() => {
    const mounted = mountSmallDisk(256 * MIB)
    if (mounted === undefined) throw new Error('no disk')
    disk = mounted
    data = join(disk.path, 'data')
  })
  afterEach(async () => {
    await server?.end('SIGKILL')
    server = undefined
    disk.unmount()
  })

  test('the server goes read-only before it is full, says so once, and takes writes again once there is room', async () => {
    server = await startCtl({ args: ['--data-dir', data] })
    const operator = operatorOf(server, data)
    await issueTokens(operator, 10)
    disk.fill(40 * MIB)
    await vi.waitFor(async () => expect(await operator.readiness()).toMatchObject(readyWith(READ_ONLY)), SOON)
    expect(await operator.write()).toEqual({ status: 500, code: 'internal' })
    expect(await operator.read()).toBe(200)
    const status = await runCtl(['status'], { CTL_URL: server.url, CTL_TOKEN_FILE: join(data, 'bootstrap-token') })
    expect(status.stdout).toContain('db-primary: it is read-only: it takes no writes, since ')
    expect(status.stdout).toContain('Reads and checks work.')
    expect(status.exitCode).toBe(0)
    disk.relieve()
    await vi.waitFor(async () => expect(await operator.readiness()).toMatchObject({ status: 'ready' }), SOON)
    await issueTokens(operator, 5)
    expect(linesWith(server, 'it is read-only until')).toBe(1)
    expect(linesWith(server, 'it takes writes again')).toBe(1)
    expect(await server.end('SIGTERM')).toBe(0)
    server = await startCtl({ args: ['--data-dir', data] })
    expect([operator.acknowledged.length, await operator.lost(server)]).toEqual([15, []])
  })

  test('nothing acknowledged is lost when it is full before anybody could look', async () => {
    server = await startCtl({ args: ['--data-dir', data] })
    const operator = operatorOf(server, data)
    await issueTokens(operator, 10)
    disk.fill(0)
    for (let each = 0; each < 200; each++) {
      // A server whose log cannot be written ends, and with it the connection.
      const { status } = await operator.write().catch(() => ({ status: 0 }))
      expect([201, 500, 503, 0]).toContain(status)
    }
    await server.end('SIGKILL')
    disk.relieve()
    server = await startCtl({ args: ['--data-dir', data] })
    expect(await operator.lost(server)).toEqual([])
    expect(operator.acknowledged.length).toBeGreaterThanOrEqual(10)
  })

  test('a first start says so in one sentence and leaves nothing half-made behind', async () => {
    disk.fill(20 * MIB)
    mkdirSync(data)
    const { exitCode, stderr } = await runCtl(['serve', '--listen', '127.0.0.1:0', '--data-dir', data])
    expect(sentences(stderr)).toEqual([
      `ctl serve: The data directory ${data} has no space left: free some, then start again.`,
    ])
    expect([exitCode, readdirSync(data)]).toEqual([1, []])
    disk.relieve()
    server = await startCtl({ args: ['--data-dir', data] })
    expect(await operatorOf(server, data).read()).toBe(200)
  })

  test('a later start says so in one sentence, and has everything once there is room', async () => {
    server = await startCtl({ args: ['--data-dir', data] })
    const operator = operatorOf(server, data)
    await issueTokens(operator, 10)
    await server.end('SIGKILL')
    disk.fill(0)
    const { exitCode, stderr } = await runCtl(['serve', '--listen', '127.0.0.1:0', '--data-dir', data])
    expect(stderr).toBe(`ctl serve: The data directory ${data} has no space left: free some, then start again.\n`)
    expect(exitCode).toBe(1)
    disk.relieve()
    server = await startCtl({ args: ['--data-dir', data] })
    expect(await operator.lost(server)).toEqual([])
  })

  test('a data directory on a read-only file system stops the start in one sentence', async () => {
    server = await startCtl({ args: ['--data-dir', data] })
    expect(await server.end('SIGTERM')).toBe(0)
    disk.makeReadOnly()
    for (const directory of [data, join(disk.path, 'new')]) {
      const { exitCode, stderr } = await runCtl(['serve', '--listen', '127.0.0.1:0', '--data-dir', directory])
      expect(sentences(stderr)).toEqual([
        `ctl serve: The data directory ${directory} is on a read-only file system: choose another with --data-dir.`,
      ])
      expect(exitCode).toBe(1)
    }
  })
})

describe('on a disk whose syncs fail', () => {
  let folder: string
  let data: string
  let fails: string
  let server: CtlProcess | undefined
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ctl-sync-'))
    data = join(folder, 'data')
    fails = join(folder, 'fails')
  })
  afterEach(async () => {
    await server?.end('SIGKILL')
    server = undefined
    rmSync(folder, { recursive: true })
  })

  const preload = new URL('../support/datastores/failing-disk.mjs', import.meta.url)
  const onBadDisk = (faults: { readonly hangs?: string } = {}) => ({
    NODE_OPTIONS: `--import ${preload.href}?${new URLSearchParams({ fails, ...faults }).toString()}`,
  })

  test('the write is refused, the process ends with one sentence, and a restart has all that was acknowledged', async () => {
    server = await startCtl({ args: ['--data-dir', data], env: onBadDisk() })
    const operator = operatorOf(server, data)
    await issueTokens(operator, 10)
    writeFileSync(fails, '')
    // A write of the server's own may meet the disk first, and end the process before this one is answered.
    const refused = await operator.write().catch(() => CUT)
    expect([{ status: 500, code: 'internal' }, CUT]).toContainEqual(refused)
    expect(await server.ended()).toBe(1)
    expect(sentences(server.stderr()).at(-1)).toMatch(
      /^ctl serve: The embedded datastore stopped \(fsync of .* failed: EIO: i\/o error, fsync\); start the server again: it recovers from its log\.$/,
    )
    rmSync(fails)
    server = await startCtl({ args: ['--data-dir', data] })
    expect(server.stderr()).toMatch(/unclean|recover/i)
    expect([operator.acknowledged.length, await operator.lost(server)]).toEqual([10, []])
    await issueTokens(operatorOf(server, data), 1)
  })

  test('SIGTERM ends the process although a sync does not return, and a restart has all that was acknowledged', async () => {
    const hangs = join(folder, 'hangs')
    server = await startCtl({ args: ['--data-dir', data], env: onBadDisk({ hangs }) })
    const operator = operatorOf(server, data)
    await issueTokens(operator, 10)
    execFileSync('mkfifo', [hangs])
    const hanging = operator.write().catch(() => undefined)
    // The engine has the write once it answers nobody else.
    await vi.waitFor(async () => expect(await operator.readiness()).toMatchObject({ status: 'degraded' }), SOON)
    const startedAt = performance.now()
    expect(await server.end('SIGTERM')).toBe('SIGKILL')
    expect(performance.now() - startedAt).toBeLessThan(15_000)
    expect(sentences(server.stderr()).at(-1)).toBe(
      'ctl serve: The server did not stop within 10 s and is killed; the next start recovers what it acknowledged.',
    )
    await hanging
    server = await startCtl({ args: ['--data-dir', data] })
    expect([operator.acknowledged.length, await operator.lost(server)]).toEqual([10, []])
  })

  test('a first start fails in one sentence, and nothing of it is taken for good later', async () => {
    writeFileSync(fails, '')
    const { exitCode, stderr } = await runCtl(['serve', '--listen', '127.0.0.1:0', '--data-dir', data], onBadDisk())
    expect(sentences(stderr)).toEqual([
      `ctl serve: The data directory ${data} is on a disk that fails to read or write: repair the disk, or choose another with --data-dir.`,
    ])
    expect(exitCode).toBe(1)
    expect(existsSync(join(data, 'database', 'ready'))).toBe(false)
    rmSync(fails)
    server = await startCtl({ args: ['--data-dir', data], env: onBadDisk() })
    expect(await operatorOf(server, data).read()).toBe(200)
  })
})

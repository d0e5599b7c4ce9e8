import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { runCtl, startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { startNatsServer } from '../support/events/nats-server.ts'
import { startPostgresCluster, type PostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { callServer, enrol, type EnrolledNode } from '../support/server/replicas.ts'
import { requirement } from '../support/run/requirements.mjs'
import { textUntil } from '../support/network/stream-text.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const folder = mkdtempSync(join(tmpdir(), 'ctl-backup-'))
let server: CtlProcess | undefined
afterEach(async () => {
  await server?.end('SIGKILL')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function running(): CtlProcess {
  if (server === undefined) throw new Error('no server runs')
  return server
}

const operator = (data: string): string => readFileSync(join(data, 'bootstrap-token'), 'utf8').trim()

async function addDomain(data: string, slug: string): Promise<void> {
  const body = { slug, display_name: slug }
  const { status } = await callServer(running(), { token: operator(data), method: 'POST', path: '/v1/domains', body })
  expect(status).toBe(201)
}

async function domains(data: string): Promise<readonly unknown[]> {
  const { body } = await callServer(running(), { token: operator(data), path: '/v1/domains' })
  return (body['items'] as readonly { slug: string }[]).map(({ slug }) => slug).toSorted()
}

async function joinOne(data: string): Promise<EnrolledNode> {
  const token = operator(data)
  const { body: whoami } = await callServer(running(), { token, path: '/v1/auth/whoami' })
  const [node] = await enrol(running(), { token, domainId: String(whoami['domain_id']), nodes: 1 })
  if (node === undefined) throw new Error('nobody joined')
  return node
}

interface Frame {
  readonly id: number
  readonly nodeSeq: number
  readonly reason: string | undefined
}

/** Opens the node's stream; resolves once it is open. */
async function openStream({ id, nsk }: EnrolledNode, lastEventId?: number): Promise<Response> {
  const headers = {
    authorization: `Bearer ${nsk}`,
    ...(lastEventId !== undefined && { 'last-event-id': String(lastEventId) }),
  }
  const stream = await fetch(`${running().url}/v1/nodes/${id}/events`, { headers, signal: AbortSignal.timeout(60_000) })
  expect(stream.status).toBe(200)
  return stream
}

async function firstFrame(stream: Response): Promise<Frame> {
  const said = await textUntil(stream, /^data: .*$/m)
  const wire = JSON.parse(/^data: (.*)$/m.exec(said)?.[1] ?? '{}') as {
    node_seq: number
    payload: { reason?: string }
  }
  return { id: Number(/^id: ?(\d+)$/m.exec(said)?.[1]), nodeSeq: wire.node_seq, reason: wire.payload.reason }
}

/** An event of the node, caused by another one that joins. */
async function eventAtJoin(data: string, node: EnrolledNode): Promise<Frame> {
  const stream = await openStream(node)
  await joinOne(data)
  return firstFrame(stream)
}

interface Restored {
  readonly data: string
  /** What tells the commands where the datastore is. */
  readonly flags: readonly string[]
}

/** What was acknowledged before the backup is there and the rest is not; agents that have seen more are told to begin anew. */
async function expectRestored({ data, flags }: Restored, node: EnrolledNode, seen: Frame): Promise<void> {
  const said = await runCtl(['admin', 'after-restore', ...flags])
  expect(said).toMatchObject({ exitCode: 0, stdout: '' })
  expect(said.stderr).toContain('Events restart: 1 nodes will pull their state when they come back.\n')
  server = await startCtl({ args: flags })
  expect(await domains(data)).toEqual(['before', 'default'])
  const begun = await firstFrame(await openStream(node, seen.id))
  expect(begun.reason).toBe('resync')
  expect(begun.id).toBeGreaterThan(seen.id)
  expect(begun.nodeSeq).toBeGreaterThan(seen.nodeSeq)
  // Nothing that comes after is taken for something old.
  const next = await eventAtJoin(data, node)
  expect(next.nodeSeq).toBe(begun.nodeSeq + 1)
}

test('a data directory that was copied while the server was stopped comes back as it was, with its key', async () => {
  const data = join(folder, 'embedded')
  const flags = ['--data-dir', data]
  server = await startCtl({ args: flags })
  await addDomain(data, 'before')
  const node = await joinOne(data)
  expect(await running().end('SIGTERM')).toBe(0)
  const archive = join(folder, 'backup.tar.gz')
  execFileSync('tar', ['-C', data, '-czf', archive, '--exclude', './master.key', '.'])
  copyFileSync(join(data, 'master.key'), join(folder, 'master.key'))

  server = await startCtl({ args: flags })
  await addDomain(data, 'after')
  const seen = await eventAtJoin(data, node)
  expect(seen.reason).not.toBe('resync')
  expect(await running().end('SIGTERM')).toBe(0)
  rmSync(data, { recursive: true })
  mkdirSync(data, { mode: 0o700 })
  execFileSync('tar', ['-C', data, '-xzf', archive])

  const keyless = await runCtl(['serve', '--listen', '127.0.0.1:0', ...flags])
  expect(keyless.exitCode).toBe(1)
  expect(keyless.stderr).toMatch(/master key/i)
  copyFileSync(join(folder, 'master.key'), join(data, 'master.key'))
  await expectRestored({ data, flags }, node, seen)
})

describe.skipIf(requirement('postgresql') === undefined)('a backup of PostgreSQL', () => {
  const bin = (program: string): string => join(requirement('postgresql') ?? '', program)
  const data = join(folder, 'postgres')
  let cluster: PostgresCluster
  let database: string
  let node: EnrolledNode
  const flagsOf = (url: string): readonly string[] => ['--data-dir', data, '--database-url', url]

  beforeAll(async () => {
    cluster = await startPostgresCluster()
    database = await cluster.createDatabase()
    server = await startCtl({ args: flagsOf(database) })
    await addDomain(data, 'before')
    node = await joinOne(data)
  })
  afterAll(async () => {
    await server?.end('SIGKILL')
    await cluster.stop()
  })

  test('by pg_dump, and one by pg_basebackup, are taken while the server runs, and the first comes back in another database', async () => {
    const dump = join(folder, 'ctl.dump')
    execFileSync(bin('pg_dump'), ['--format=custom', `--file=${dump}`, database])
    const base = join(folder, 'base')
    execFileSync(bin('pg_basebackup'), ['-D', base, '-d', cluster.url, '-X', 'stream', '-c', 'fast'], { cwd: '/' })
    expect(execFileSync(bin('pg_verifybackup'), [base], { encoding: 'utf8' })).toBe('backup successfully verified\n')

    await addDomain(data, 'after')
    const seen = await eventAtJoin(data, node)
    expect(await running().end('SIGTERM')).toBe(0)

    const restored = await cluster.createDatabase()
    execFileSync(bin('pg_restore'), ['--exit-on-error', '--no-owner', `--dbname=${restored}`, dump])
    // The data directory is that of later: what it keeps besides the keys is found not to belong to this database.
    await expectRestored({ data, flags: flagsOf(restored) }, node, seen)
  })
})

test.skipIf(requirement('nats-server') === undefined)(
  'a JetStream that lost its store, or had its stream removed, is filled anew above all earlier positions',
  async () => {
    const nats = await startNatsServer()
    try {
      const data = join(folder, 'jetstream')
      const flags = ['--data-dir', data, '--nats-url', `nats://${nats.address}`]
      server = await startCtl({ args: flags })
      const node = await joinOne(data)
      const seen = await eventAtJoin(data, node)
      expect(await running().end('SIGTERM')).toBe(0)
      await nats.end('SIGTERM')
      nats.emptyStore()
      await nats.start()

      server = await startCtl({ args: flags })
      const begun = await firstFrame(await openStream(node, seen.id))
      expect(begun).toMatchObject({ reason: 'resync', nodeSeq: seen.nodeSeq })
      expect(begun.id).toBeGreaterThan(seen.id)
      expect((await eventAtJoin(data, node)).nodeSeq).toBe(seen.nodeSeq + 1)
    } finally {
      await running().end('SIGKILL')
      await nats.stop()
    }
  },
)

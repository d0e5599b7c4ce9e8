import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { readBackup } from '../support/backup/read-archive.ts'
import { startPostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { canMount, mountSmallDisk } from '../support/datastores/small-disk.ts'
import { requirement } from '../support/run/requirements.mjs'
import { runCtl, startCtl, type CtlProcess } from '../support/server/ctl-process.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 })

const CTL = fileURLToPath(new URL('../../bin/ctl.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'ctl-backup-made-'))
/** Of all servers on the embedded datastore: a datastore that is made once makes the later starts short. */
const data = join(folder, 'data')
let out: string
let server: CtlProcess | undefined
let runs = 0
beforeEach(() => {
  runs += 1
  out = join(folder, `out-${runs}`)
  mkdirSync(out)
})
afterEach(async () => {
  await server?.end('SIGKILL')
  server = undefined
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const scratch = (): string => join(data, 'backup-scratch')
const file = (): string => join(out, 'one.ctlbackup')
const create = (...args: readonly string[]) =>
  runCtl(['admin', 'backup', 'create', file(), '--data-dir', data, ...args])

/** The file in which the backup is written. */
const partial = (): string | undefined => readdirSync(out).find((name) => name.endsWith('.partial'))
const sizeOf = (name: string | undefined): number =>
  name === undefined ? 0 : (statSync(join(out, name), { throwIfNoEntry: false })?.size ?? 0)

/** Stages of a backup of the embedded datastore, as its files show them. */
const STAGES = {
  'before the copy': () => partial() !== undefined,
  'during the copy': () => existsSync(join(scratch(), 'pgdata', 'base')),
  'while the copy is opened': () => existsSync(join(scratch(), 'pgdata', 'backup_label')),
  'while rows are written': () => sizeOf(partial()) > 0,
} as const

const reached = (stage: keyof typeof STAGES): Promise<unknown> =>
  vi.waitUntil(() => STAGES[stage](), { timeout: 120_000, interval: 1 })

describe('a backup beside a server on the embedded datastore', () => {
  test.each(Object.keys(STAGES) as (keyof typeof STAGES)[])(
    'leaves nothing half-written when the server is killed %s',
    async (stage) => {
      server = await startCtl({ args: ['--data-dir', data] })
      const asked = create()
      await reached(stage)
      await server.end('SIGKILL')
      // The last stage may end before the signal comes; what then has the name is a whole backup.
      const isMade = existsSync(file())
      expect(isMade ? [0, 8] : [8]).toContain((await asked).exitCode)
      expect(!isMade || (await readBackup(file())).head.store === 'embedded').toBe(true)
      server = await startCtl({ args: ['--data-dir', data] })
      expect(existsSync(scratch())).toBe(false)
      expect(await create('--force')).toMatchObject({ exitCode: 0, stdout: '' })
      expect(readdirSync(out)).toEqual(['one.ctlbackup'])
      expect((await readBackup(file())).head.store).toBe('embedded')
    },
  )

  test('is ended and removed when the command is killed, and the next one works', async () => {
    server = await startCtl({ args: ['--data-dir', data] })
    const client = spawn(process.execPath, [CTL, 'admin', 'backup', 'create', file(), '--data-dir', data])
    await reached('during the copy')
    client.kill('SIGKILL')
    await once(client, 'exit')
    await vi.waitUntil(() => !existsSync(scratch()) && readdirSync(out).length === 0, { timeout: 120_000 })
    expect(await create()).toMatchObject({ exitCode: 0 })
    expect(server.stderr()).not.toContain('an admin command failed')
  })

  test('is ended when the server stops, which it does in time', async () => {
    server = await startCtl({ args: ['--data-dir', data] })
    const asked = create()
    await reached('during the copy')
    expect(await server.end('SIGTERM')).toBe(0)
    expect((await asked).exitCode).not.toBe(0)
    expect(readdirSync(out)).toEqual([])
  })

  test('contains no secret in plain, and the master key only under its passphrase', async () => {
    const passphrase = 'a passphrase of many words'
    const passphraseFile = join(out, 'passphrase')
    writeFileSync(passphraseFile, `${passphrase}\n`)
    server = await startCtl({ args: ['--data-dir', data] })
    const said = await create('--with-master-key', '--passphrase-file', passphraseFile)
    expect(said).toMatchObject({ exitCode: 0, stdout: '' })
    const { entries, head } = await readBackup(file())
    const plain = Buffer.concat([...entries.values()]).toString('latin1')
    const masterKey = readFileSync(join(data, 'master.key'), 'utf8').trim()
    const secrets = {
      'the master key': masterKey,
      'the master key in hex': Buffer.from(masterKey, 'base64').toString('hex'),
      'the bootstrap token': readFileSync(join(data, 'bootstrap-token'), 'utf8').trim(),
      'the initial password': readFileSync(join(data, 'initial-password'), 'utf8').trim(),
      'the passphrase': passphrase,
    }
    for (const [name, secret] of Object.entries(secrets)) expect(plain.includes(secret), name).toBe(false)
    expect(head.master_key).toEqual({ fingerprint: expect.stringMatching(/^mk-[0-9a-f]{12}$/), included: true })
    expect(server.stderr()).not.toContain(passphrase)
  })

  test('is refused with one sentence and the way out', async () => {
    server = await startCtl({ args: ['--data-dir', data] })
    expect(await create('--passphrase-file', '/x')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('it needs --with-master-key') as string,
    })
    expect(await create('--with-master-key')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('name a file with --passphrase-file') as string,
    })
    writeFileSync(join(folder, 'short'), 'short')
    expect(await create('--with-master-key', '--passphrase-file', join(folder, 'short'))).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('at least 12 characters') as string,
    })
    writeFileSync(file(), 'kept')
    expect(await create()).toMatchObject({
      exitCode: 1,
      stderr: `ctl admin backup create: ${file()} exists already: name another file, or replace it with --force.\n`,
    })
    expect(readFileSync(file(), 'utf8')).toBe('kept')
  })

  test.skipIf(!canMount())('is refused before a disk is filled, and leaves nothing there', async () => {
    const disk = mountSmallDisk(48 * 1024 * 1024)
    if (disk === undefined) throw new Error('it could be mounted before')
    try {
      server = await startCtl({ args: ['--data-dir', data] })
      const said = await runCtl(['admin', 'backup', 'create', join(disk.path, 'one'), '--data-dir', data])
      expect(said).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('free some space') as string })
      expect(readdirSync(disk.path)).toEqual([])
      expect(existsSync(scratch())).toBe(false)
    } finally {
      disk.unmount()
    }
  })
})

describe('a backup without a server', () => {
  test('is made of the embedded datastore itself', async () => {
    server = await startCtl({ args: ['--data-dir', data] })
    await server.end('SIGTERM')
    server = undefined
    expect(await create()).toMatchObject({ exitCode: 0, stdout: '' })
    expect((await readBackup(file())).rowsOf('domains')).toHaveLength(1)
    expect(existsSync(scratch())).toBe(false)
  })

  test('makes no datastore where there is none', async () => {
    const none = join(folder, 'none')
    expect((await runCtl(['admin', 'backup', 'create', file(), '--data-dir', none])).exitCode).toBe(1)
    expect(existsSync(join(none, 'database'))).toBe(false)
  })
})

describe.skipIf(requirement('postgresql') === undefined)('the schedule of two servers on one PostgreSQL', () => {
  test('makes one backup, by the leader', async () => {
    const cluster = await startPostgresCluster()
    const key = join(folder, 'master.key')
    writeFileSync(key, `${Buffer.alloc(32, 9).toString('base64')}\n`, { mode: 0o600 })
    const store = (name: string): readonly string[] => [
      '--data-dir',
      join(folder, 'replicas', name),
      '--database-url',
      cluster.url,
      '--master-key-file',
      key,
    ]
    const schedule = ['--backup-dir', out, '--backup-interval', '1h', '--ops-listen', '127.0.0.1:0']
    const args = (name: string): readonly string[] => [...store(name), ...schedule]
    let other: CtlProcess | undefined
    try {
      server = await startCtl({ args: args('one') })
      other = await startCtl({ args: args('two') })
      const finished = (): readonly string[] => readdirSync(out).filter((name) => name.endsWith('.ctlbackup'))
      await vi.waitUntil(() => finished().length > 0, { timeout: 120_000 })
      expect(await runCtl(['admin', 'backup', 'create', join(out, 'by-hand'), ...store('three')])).toMatchObject({
        exitCode: 0,
      })
      expect(finished()).toHaveLength(1)
      expect((await readBackup(join(out, finished()[0] ?? ''))).head).toMatchObject({
        store: 'postgresql',
        master_key: { included: false },
      })
      const metrics = await Promise.all(
        [server, other].map(async ({ opsUrl }) => (await fetch(`${String(opsUrl)}/metrics`)).text()),
      )
      expect(metrics.filter((text) => /^backup_last_success_timestamp_seconds [1-9]/m.test(text))).toHaveLength(1)
    } finally {
      await other?.end('SIGKILL')
      await server?.end('SIGKILL')
      server = undefined
      await cluster.stop()
    }
  })
})

import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDecipheriv, createHash, scryptSync } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { blankDatabase } from '../../scripts/lib/blank-database.mjs'
import { openPglite } from '../../src/server/adapters/pglite/database.ts'
import { MIGRATIONS, migrate } from '../../src/server/adapters/postgres/migrate.ts'
import { openPostgres } from '../../src/server/adapters/postgres/database.ts'
import { createBackups, type BackupOrder, type MadeBackup } from '../../src/server/backup/snapshot/create-backup.ts'
import { TABLES_LEFT_OUT } from '../../src/server/backup/tables.ts'
import type { Datastore } from '../../src/server/ports/datastore.ts'
import type { OpenSnapshot } from '../../src/server/ports/snapshot.ts'
import { readBackup } from '../support/backup/read-archive.ts'
import { exceptNotDurable, startMigratedCluster } from '../support/datastores/migrated-cluster.ts'
import { requirement } from '../support/run/requirements.mjs'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')
const PASSPHRASE = 'correct horse battery'
const CREATED_AT = Date.parse('2026-03-01T12:00:00Z')
const refuse = (message: string, cause?: unknown): never => {
  throw new Error(message, { cause })
}

interface Opened {
  readonly datastore: Datastore
  readonly openSnapshot: OpenSnapshot
  /** What must be gone after a backup; none for PostgreSQL. */
  readonly scratch: string | undefined
  close(): Promise<void>
}

async function openEmbedded(folder: string): Promise<Opened> {
  const image = await blankDatabase({ openPglite, migrate })
  const dataDir = join(folder, 'data')
  const datastore = await openPglite({ dataDir, engine: { image }, warn: refuse })
  const { openSnapshot } = datastore
  if (openSnapshot === undefined) throw new Error('a datastore on disk gives snapshots')
  return { datastore, openSnapshot, scratch: join(dataDir, 'backup-scratch'), close: () => datastore.close() }
}

async function openCluster(): Promise<Opened> {
  const cluster = await startMigratedCluster()
  const datastore = await openPostgres({ url: cluster.url, warn: exceptNotDurable(() => undefined) })
  const { openSnapshot } = datastore
  const close = async (): Promise<void> => {
    await datastore.close()
    await cluster.stop()
  }
  return { datastore, openSnapshot, scratch: undefined, close }
}

const STORES = [
  { name: 'embedded', missing: false, open: openEmbedded },
  { name: 'postgresql', missing: requirement('postgresql') === undefined, open: openCluster },
] as const

for (const store of STORES)
  describe.skipIf(store.missing)(`a backup of the ${store.name} datastore`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'ctl-backup-create-'))
    let opened: Opened
    let make: (order: BackupOrder) => Promise<MadeBackup>
    beforeAll(async () => {
      opened = await store.open(folder)
      const db = opened.datastore.pool('bulk')
      await sql`create table pair (id integer primary key, n bigint not null)`.execute(db)
      await sql`insert into pair values (1, 0), (2, 0)`.execute(db)
      await sql`create table wide (id integer primary key, text text)`.execute(db)
      await sql`insert into wide select i, repeat(md5(i::text), 40) from generate_series(1, 9000) as i`.execute(db)
      await sql`insert into wide values (0, E'tab\\t line\\n backslash\\\\ \u00e9'), (-1, null)`.execute(db)
      make = createBackups({
        openSnapshot: opened.openSnapshot,
        clock: { now: () => CREATED_AT },
        keys: { fingerprint: () => null, secrets: () => ({ master_key: MASTER_KEY }) },
        productVersion: '1.2.3',
        store: store.name,
        server: { public_url: 'https://ctl.example.net', replica: 'host' },
        migrations: MIGRATIONS.map(({ name }) => name),
      })
    })
    afterAll(async () => {
      await opened?.close()
      rmSync(folder, { recursive: true, force: true })
    })

    const order = (name: string, given: Partial<BackupOrder> = {}): BackupOrder => ({
      path: join(folder, name),
      replaces: false,
      signal: new AbortController().signal,
      ...given,
    })
    const left = (): readonly string[] => readdirSync(folder).filter((name) => name !== 'data')

    /** Writes two rows in one transaction, again and again. Resolves with how long each took, in ms. */
    function startWriter() {
      const tookMs: number[] = []
      const ending = new AbortController()
      const ended = (async () => {
        while (!ending.signal.aborted) {
          const beganMs = performance.now()
          await opened.datastore.transaction('worker', async (tx) => {
            await sql`update pair set n = n + 1 where id = 1`.execute(tx)
            await sql`update wide set text = md5(random()::text) where id = ${1 + (tookMs.length % 9000)}`.execute(tx)
            await sql`update pair set n = n + 1 where id = 2`.execute(tx)
          })
          tookMs.push(performance.now() - beganMs)
          await turn()
        }
      })()
      const stop = async (): Promise<readonly number[]> => {
        ending.abort()
        await ended
        return tookMs
      }
      return { stop, written: () => tookMs.length }
    }

    test('is one state of it, made while it takes writes', async () => {
      const writer = startWriter()
      await vi.waitUntil(() => writer.written() > 10, { timeout: 60_000 })
      const before = writer.written()
      const made = await make(order('load.ctlbackup'))
      const after = writer.written()
      await writer.stop()
      expect(after).toBeGreaterThan(before)
      const backup = await readBackup(join(folder, 'load.ctlbackup'))
      const [first, second] = backup.rowsOf('pair')
      expect(first?.['n']).toBe(second?.['n'])
      expect(Number(first?.['n'])).toBeGreaterThanOrEqual(before)
      const ids = backup.rowsOf('wide').map(({ id }) => Number(id))
      expect(ids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 9002 }, (_, at) => at - 1))
      expect(made).toMatchObject({ path: join(folder, 'load.ctlbackup'), hasMasterKey: false })
      expect(made.rows).toBe(backup.manifest.tables.reduce((sum, { rows }) => sum + rows, 0))
      expect(made.bytes).toBe(statSync(made.path).size)
      expect(statSync(made.path).mode & 0o777).toBe(0o600)
      expect(backup.rowsOf('wide').find(({ id }) => id === '0')?.['text']).toBe('tab\\t line\\n backslash\\\\ \u00e9')
      expect(backup.rowsOf('wide').find(({ id }) => id === '-1')?.['text']).toBe('\\N')
    })

    test('contains every table that is not left out for a reason, and every sequence', async () => {
      await make(order('all.ctlbackup'))
      const backup = await readBackup(join(folder, 'all.ctlbackup'))
      const { rows } = await sql<{ name: string; kind: string }>`
        select relname as name, relkind as kind from pg_class
        where relnamespace = current_schema()::regnamespace and relkind not in ('i', 'I') order by relname collate "C"`.execute(
        opened.datastore.pool('bulk'),
      )
      const named = (kind: string): string[] => rows.filter((row) => row.kind === kind).map(({ name }) => name)
      expect(rows.filter(({ kind }) => !['r', 'S'].includes(kind))).toEqual([])
      const contained = backup.manifest.tables.map(({ table }) => table)
      expect(contained).toEqual(named('r').filter((name) => !Object.hasOwn(TABLES_LEFT_OUT, name)))
      expect(Object.keys(TABLES_LEFT_OUT).filter((name) => !named('r').includes(name))).toEqual([])
      expect(Object.keys(JSON.parse(String(backup.entries.get('sequences.json'))) as object)).toEqual(named('S'))
      expect(backup.head).toMatchObject({
        format: 1,
        product_version: '1.2.3',
        schema_version: MIGRATIONS.at(-1)?.name,
        schema: MIGRATIONS.map(({ name }) => name),
        store: store.name,
        created_at: '2026-03-01T12:00:00.000Z',
        master_key: { fingerprint: null, included: false },
      })
      expect([...backup.entries.keys()]).not.toContain('master-key.json')
    })

    test('has every row of a table whose values are far longer than what is stored of them', async () => {
      const db = opened.datastore.pool('bulk')
      await sql`create table compressed (id integer primary key, text text)`.execute(db)
      await sql`insert into compressed select i, repeat('x', 1048576) from generate_series(1, 40) as i`.execute(db)
      await make(order('compressed.ctlbackup'))
      const rows = (await readBackup(join(folder, 'compressed.ctlbackup'))).rowsOf('compressed')
      expect(rows.map(({ id, text }) => `${id} ${text?.length}`)).toEqual(
        Array.from({ length: 40 }, (_, at) => `${at + 1} 1048576`),
      )
      await sql`drop table compressed`.execute(db)
    })

    test('has the master key on request only, and then under the passphrase and bound to this backup', async () => {
      await make(order('key.ctlbackup', { passphrase: PASSPHRASE }))
      const { entries, head } = await readBackup(join(folder, 'key.ctlbackup'))
      expect(head.master_key.included).toBe(true)
      const plain = Buffer.concat([...entries.values()])
      for (const form of [MASTER_KEY, Buffer.from(MASTER_KEY, 'base64'), PASSPHRASE])
        expect(plain.includes(form)).toBe(false)
      const sealed = JSON.parse(String(entries.get('master-key.json'))) as Record<string, string & number>
      const key = scryptSync(PASSPHRASE, Buffer.from(String(sealed['salt']), 'base64url'), 32, {
        N: Number(sealed['n']),
        r: Number(sealed['r']),
        p: Number(sealed['p']),
        maxmem: 2 ** 29,
      })
      const ciphertext = Buffer.from(String(sealed['ciphertext']), 'base64url')
      const opener = createDecipheriv('aes-256-gcm', key, Buffer.from(String(sealed['nonce']), 'base64url'))
      opener.setAAD(
        createHash('sha256')
          .update(entries.get('backup.json') ?? '')
          .digest(),
      )
      opener.setAuthTag(ciphertext.subarray(-16))
      const plaintext = Buffer.concat([opener.update(ciphertext.subarray(0, -16)), opener.final()]).toString('utf8')
      expect(JSON.parse(plaintext)).toEqual({ master_key: MASTER_KEY })
    })

    test('replaces no file unless it is asked to, and leaves the file that was there', async () => {
      const path = join(folder, 'there')
      writeFileSync(path, 'kept')
      await expect(make(order('there'))).rejects.toThrow(`${path} exists already`)
      expect(String(statSync(path).size)).toBe('4')
      await make(order('there', { replaces: true }))
      expect((await readBackup(path)).head.format).toBe(1)
    })

    test('that is ended early, at any stage, leaves nothing', async () => {
      const earlier = left()
      for (const stage of ['copying', 'writing'] as const) {
        if (stage === 'copying' && store.name !== 'embedded') continue
        const ending = new AbortController()
        const onProgress = (progress: { readonly stage: string }): void => {
          if (progress.stage === stage) ending.abort(new Error(`ended while ${stage}`))
        }
        await expect(make(order('ended', { signal: ending.signal, onProgress }))).rejects.toThrow(
          `ended while ${stage}`,
        )
        expect(left()).toEqual(earlier)
        if (opened.scratch !== undefined) expect(existsSync(opened.scratch)).toBe(false)
      }
      await make(order('next'))
      rmSync(join(folder, 'next'))
    })

    test('removes what a killed process left of the same file, and nothing else', async () => {
      writeFileSync(join(folder, 'again.4194305.partial'), 'half')
      writeFileSync(join(folder, 'other.4194305.partial'), 'of another file')
      await make(order('again'))
      expect(left()).toContain('again')
      expect(left()).toContain('other.4194305.partial')
      expect(left()).not.toContain('again.4194305.partial')
    })

    test('is refused where there is no directory, and where the schema is of a newer version', async () => {
      await expect(make(order('none/backup'))).rejects.toThrow('There is no directory')
      const db = opened.datastore.pool('bulk')
      await sql`insert into schema_migrations values ('9999-later', '', now())`.execute(db)
      await expect(make(order('newer'))).rejects.toThrow('migration 9999-later')
      await sql`delete from schema_migrations where name = '9999-later'`.execute(db)
      expect(existsSync(join(folder, 'newer'))).toBe(false)
    })
  })

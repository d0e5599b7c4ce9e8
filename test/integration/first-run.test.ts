import { linkSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import pino from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openBackend, type Backend } from '../../src/server/composition/backend.ts'
import { parseConfig } from '../../src/server/config/config.ts'
import { firstRun, remintBootstrapToken, type FirstRunDeps } from '../../src/server/first-run/first-run.ts'
import { createMemoryHandover } from '../../src/server/first-run/memory-handover.ts'
import { createTokenFile } from '../../src/server/first-run/token-file.ts'
import { createBootstrapFactories } from '../../src/server/composition/bootstrap-factories.ts'
import { parseApiToken } from '../../src/shared/credential-formats.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startPostgresCluster, type PostgresCluster } from '../support/datastores/postgres-cluster.ts'

const NO_HOOKS = {
  log: pino({ level: 'silent' }),
  onNew: () => undefined,
  onAuditFailure: () => undefined,
  onBroken: () => undefined,
}
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')

describe.each(STORES)('on $name', (store) => {
  describe.skipIf(store.missing)('the first run', () => {
    let cluster: PostgresCluster | undefined
    let home: string
    let folder: string
    let path: string
    let backend: Backend
    const others: Backend[] = []

    async function open(): Promise<Backend> {
      const env = cluster && { SERVICE_DATABASE_URL: cluster.url, SERVICE_MASTER_KEY: MASTER_KEY }
      const argv = env === undefined ? ['--dev'] : ['--data-dir', home]
      const opened = await openBackend(parseConfig({ argv, env: env ?? {} }), NO_HOOKS)
      await opened.feed.start()
      return opened
    }

    async function close({ feed, datastore }: Backend): Promise<void> {
      feed.stop()
      await datastore.close()
    }

    const depsOf = (of: Backend): FirstRunDeps => ({
      ...of,
      factories: createBootstrapFactories(of, 'local'),
      handover: createTokenFile(path),
    })

    beforeAll(async () => {
      if (store.name === 'postgres') cluster = await startPostgresCluster()
      home = mkdtempSync(join(tmpdir(), 'ctl-first-run-'))
      backend = await open()
    })
    afterAll(async () => {
      rmSync(home, { recursive: true, force: true })
      await close(backend)
      await cluster?.stop()
    })
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'ctl-first-run-'))
      path = join(folder, 'handed/over/bootstrap-token')
    })
    afterEach(async () => {
      await Promise.all(others.splice(0).map(close))
      await sql`truncate domains, projects, principals, api_tokens, relation_tuples, outbox, audit cascade`.execute(
        backend.datastore.pool('bulk'),
      )
      rmSync(folder, { recursive: true, force: true })
    })

    const rows = (table: 'domains' | 'projects' | 'principals' | 'api_tokens' | 'audit') =>
      backend.datastore.pool('interactive').selectFrom(table).selectAll().execute()

    function tokenInFile(): string {
      return readFileSync(path, 'utf8').trim()
    }

    async function tokenIds(): Promise<string[]> {
      return (await rows('api_tokens')).map((row) => (row as { id: string }).id)
    }

    test('founds a Domain, a Project and an identity that manages the platform and audits the Domain', async () => {
      expect(await firstRun(depsOf(backend))).toBe('founded')
      const [domain] = await rows('domains')
      const [principal] = await rows('principals')
      expect([domain, ...(await rows('projects'))]).toMatchObject([{ slug: 'default' }, { slug: 'default' }])
      expect(principal).toMatchObject({ kind: 'service-identity', display_name: 'Bootstrap' })
      const subject = `serviceaccount:${principal?.id}`
      const holds = async (relation: string, resource: string): Promise<boolean> =>
        (await backend.authorizer.check({ subject, relation, resource, facts: { nowMs: 0 }, wantPath: false })).allowed
      expect(await holds('manage', 'platform:main')).toBe(true)
      expect(await holds('auditor', `domain:${domain?.id}`)).toBe(true)
      expect(await holds('auditor', 'platform:main')).toBe(false)
    })

    test('hands over a token for 90 days in a file that nobody else can read', async () => {
      await firstRun(depsOf(backend))
      expect(statSync(path).mode & 0o777).toBe(0o600)
      expect(await tokenIds()).toEqual([parseApiToken(tokenInFile())?.id])
      expect(await rows('api_tokens')).toMatchObject([{ lifetime_seconds: 7_776_000, scopes: ['*'] }])
      expect(statSync(`${path}.new`, { throwIfNoEntry: false })).toBeUndefined()
    })

    test('audits the founding, and does nothing the second time', async () => {
      await firstRun(depsOf(backend))
      const token = tokenInFile()
      expect(await firstRun(depsOf(backend))).toBe('nothing to do')
      expect(tokenInFile()).toBe(token)
      expect(await rows('audit')).toMatchObject([
        { subject: 'system:first-run', relation: 'platform.found', object: 'platform:main', outcome: 'granted' },
      ])
    })

    test('replicas that start at once found once', async () => {
      if (store.name === 'postgres') others.push(await open(), await open())
      const outcomes = await Promise.all(
        [backend, ...others].map((of, index) =>
          firstRun({ ...depsOf(of), handover: createTokenFile(join(folder, `token-${index}`)) }),
        ),
      )
      expect(outcomes.filter((outcome) => outcome === 'founded')).toHaveLength(1)
      expect(await rows('domains')).toHaveLength(1)
      expect(await rows('api_tokens')).toHaveLength(1)
    })

    test('a crash between the commit and the hand-over loses no token', async () => {
      const deps = depsOf(backend)
      const crash = new Error('crash')
      const publish = (): never => {
        throw crash
      }
      await expect(firstRun({ ...deps, handover: { ...deps.handover, publish } })).rejects.toBe(crash)
      expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined()
      expect(await firstRun(deps)).toBe('resumed')
      expect(await tokenIds()).toEqual([parseApiToken(tokenInFile())?.id])
      expect(statSync(path).mode & 0o777).toBe(0o600)
    })

    test('a crash before the commit leaves a staged token that is forgotten', async () => {
      const deps = depsOf(backend)
      const crash = new Error('crash')
      const stage = (token: string): never => {
        deps.handover.stage(token)
        throw crash
      }
      await expect(firstRun({ ...deps, handover: { ...deps.handover, stage } })).rejects.toBe(crash)
      expect(await rows('domains')).toEqual([])
      const lost = readFileSync(`${path}.new`, 'utf8').trim()
      expect(await firstRun(deps)).toBe('founded')
      expect(tokenInFile()).not.toBe(lost)
      expect(await tokenIds()).toEqual([parseApiToken(tokenInFile())?.id])
    })

    test('a crash between the two steps of publishing is settled by the next start', async () => {
      const deps = depsOf(backend)
      await firstRun(deps)
      const token = tokenInFile()
      linkSync(path, `${path}.new`)
      expect(await firstRun(depsOf(backend))).toBe('resumed')
      expect(tokenInFile()).toBe(token)
      expect(statSync(`${path}.new`, { throwIfNoEntry: false })).toBeUndefined()
    })

    test.each([
      ['a file', (at: string) => writeFileSync(at, 'mine')],
      ['a link', (at: string) => symlinkSync('/nonexistent/target', at)],
    ])('%s in the place of the token keeps anything from being founded', async (_, occupy) => {
      path = join(folder, 'taken')
      occupy(path)
      await expect(firstRun(depsOf(backend))).rejects.toThrow(`the token file ${path} cannot be written (EEXIST)`)
      expect(await rows('domains')).toEqual([])
      expect(await rows('api_tokens')).toEqual([])
    })

    test('another bootstrap token is for the same identity', async () => {
      await firstRun(depsOf(backend))
      const handover = createMemoryHandover()
      await remintBootstrapToken({ ...depsOf(backend), handover })
      expect(await rows('principals')).toHaveLength(1)
      expect((await tokenIds()).toSorted()).toEqual(
        [parseApiToken(tokenInFile())?.id, parseApiToken(handover.token())?.id].toSorted(),
      )
    })

    test('the way back in makes what an empty datastore lacks', async () => {
      const handover = createMemoryHandover()
      await remintBootstrapToken({ ...depsOf(backend), handover })
      expect(await rows('domains')).toMatchObject([{ slug: 'default' }])
      expect(parseApiToken(handover.token())?.env).toBe('local')
    })
  })
})

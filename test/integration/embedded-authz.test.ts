import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createEmbeddedAuthorizer,
  type EmbeddedAuthorizer,
} from '../../src/server/adapters/embedded-authz/authorizer.ts'
import { createChangeFeed, type FollowedFeed } from '../../src/server/adapters/postgres/change-feed.ts'
import { createUnitOfWork } from '../../src/server/adapters/postgres/unit-of-work.ts'
import { createUuidV7 } from '../../src/server/adapters/system/uuid-v7.ts'
import { addDomain } from '../../src/server/slices/domains/add-domain.ts'
import { newDomain } from '../../src/server/slices/domains/domain.ts'
import type { CaveatFacts, Decision } from '../../src/server/ports/authorizer.ts'
import type { Change, Tuple } from '../../src/server/ports/unit-of-work.ts'
import { Problem } from '../../src/shared/problems.ts'
import { emptyTables } from '../support/datastores/empty-tables.ts'
import { POSTGRES, STORES, useDatastore } from '../support/datastores/stores.ts'

/** A Monday, 10:00 in Berlin. */
const NOW_MS = Date.parse('2026-03-02T09:00:00Z')
const ANN = 'user:01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const BOB = 'user:01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4c'
const PLATFORM = 'platform:main'

function warn(message: string, cause?: unknown): never {
  throw new Error(message, { cause })
}

async function codeOf(work: () => unknown): Promise<string> {
  try {
    await work()
    return 'none'
  } catch (error) {
    if (error instanceof Problem) return error.code
    throw error
  }
}

describe.each(STORES)('the embedded authorizer on $name', (store) => {
  describe.skipIf(store.missing)('', () => {
    const inUse = useDatastore(store)
    const clock = { now: () => NOW_MS }
    const ids = createUuidV7(clock)
    let feed: FollowedFeed
    let authorizer: EmbeddedAuthorizer

    beforeEach(async () => {
      await emptyTables(inUse.current())
      feed = createChangeFeed({ datastore: inUse.current(), warn })
      authorizer = createEmbeddedAuthorizer({ datastore: inUse.current(), changeFeed: feed })
    })
    afterEach(() => feed.stop())

    function change<T>(work: (tx: Change) => Promise<T>): Promise<T> {
      const { validateTuple } = authorizer
      const failures = {
        onAuditFailure: (error: unknown) => warn('audit', error),
        onLateFeed: (error: unknown) => warn('late', error),
      }
      const unitOfWork = createUnitOfWork({ datastore: inUse.current(), feed, clock, ids, validateTuple, ...failures })
      return unitOfWork.run({ pool: 'interactive', correlationId: 'arranged' }, work)
    }

    const place = (domainId: string | null) => ({ domainId, projectId: null })
    const grant = (tuple: Tuple, domainId: string | null = null) =>
      change((tx) => tx.tuples.create(tuple, place(domainId)))

    async function addedDomain(slug: string, settings: object = {}): Promise<string> {
      const domain = newDomain(ids.next(), { slug, display_name: slug, ...settings }, new Date(NOW_MS))
      await change((tx) => addDomain(tx, domain))
      return domain.id
    }

    function ask(
      [subject, relation, resource]: readonly [string, string, string],
      facts: Partial<CaveatFacts> = {},
      allowedFacts?: ReadonlySet<string>,
    ): Decision | Promise<Decision> {
      const allowed = allowedFacts === undefined ? {} : { allowedFacts }
      return authorizer.check({
        subject,
        relation,
        resource,
        facts: { nowMs: NOW_MS, ...facts },
        wantPath: true,
        ...allowed,
      })
    }

    it('answers nothing before the feed has loaded it', async () => {
      expect(await codeOf(() => ask([ANN, 'read', PLATFORM]))).toBe('authz_unavailable')
      await feed.start()
      expect(ask([ANN, 'read', PLATFORM])).toEqual({
        allowed: false,
        reason: 'insufficient_relation',
        isUnconditional: true,
      })
    })

    it('answers nothing once the lease is over, whatever it knows', async () => {
      await feed.start()
      await grant({ subject: ANN, relation: 'admin', resource: PLATFORM })
      expect(ask([ANN, 'manage', PLATFORM])).toEqual({ allowed: true, path: ['admin'], isUnconditional: true })
      feed.stop()
      expect(await codeOf(() => ask([ANN, 'manage', PLATFORM]))).toBe('authz_unavailable')
    })

    it('knows a grant and its end by the time the change is answered', async () => {
      await feed.start()
      const domainId = await addedDomain('home')
      const question = [ANN, 'operate', `domain:${domainId}`] as const
      await grant({ subject: ANN, relation: 'operator', resource: `domain:${domainId}` }, domainId)
      expect(ask(question)).toEqual({ allowed: true, path: ['operator'], isUnconditional: true })
      await change(async (tx) => {
        const rows = await tx.db.selectFrom('relation_tuples').select('id').where('relation', '=', 'operator').execute()
        for (const { id } of rows) await tx.tuples.delete(id)
      })
      expect(ask(question)).toEqual({ allowed: false, reason: 'insufficient_relation', isUnconditional: true })
    })

    it('drops everything about an object that goes away', async () => {
      await feed.start()
      const domainId = await addedDomain('home')
      await grant({ subject: ANN, relation: 'admin', resource: PLATFORM })
      expect(ask([ANN, 'manage', `domain:${domainId}`])).toMatchObject({ allowed: true })
      await change((tx) => tx.tuples.deleteObject(`domain:${domainId}`))
      expect(ask([ANN, 'manage', `domain:${domainId}`])).toMatchObject({ allowed: false })
      expect(authorizer.stats()).toMatchObject({ tuples: 1, objects: 2, unknownTuples: 0 })
    })

    it('loads what was there before it, over many chunks, and leaves out what the schema does not have', async () => {
      await sql`
        insert into relation_tuples
        select gen_random_uuid(), 'user', gen_random_uuid()::text, '', 'member', 'group',
          '00000000-0000-7000-8000-' || lpad((n % 100)::text, 12, '0'), '', '[]', null, null, false, 1, now()
        from generate_series(1, 12000) as n`.execute(inUse.current().pool('interactive'))
      await sql`
        insert into relation_tuples
        select gen_random_uuid(), type, id, '', relation, 'group', '00000000-0000-7000-8000-000000000042', '', '[]', null, null, false, 1, now()
        from (values ('user', ${ANN.slice(5)}, 'member'), ('user', 'x', 'leader'), ('robot', 'x', 'member')) as t (type, id, relation)`.execute(
        inUse.current().pool('interactive'),
      )
      await feed.start()
      expect(authorizer.stats()).toMatchObject({ tuples: 12_001, objects: 12_101, unknownTuples: 2 })
      expect(ask([ANN, 'member', 'group:00000000-0000-7000-8000-000000000042'])).toEqual({
        allowed: true,
        path: [],
        isUnconditional: true,
      })
      expect(ask([ANN, 'member', 'group:00000000-0000-7000-8000-000000000043'])).toMatchObject({ allowed: false })
    })

    it('refuses malformed questions, naming the part', async () => {
      await feed.start()
      const refused = (subject: string, relation: string, resource: string) =>
        expect(() => ask([subject, relation, resource])).toThrow(Problem)
      refused('user:*', 'read', PLATFORM)
      refused('ann', 'read', PLATFORM)
      refused(ANN, 'fly', PLATFORM)
      refused(ANN, 'read', 'main')
      expect(await codeOf(() => ask(['user:*', 'read', PLATFORM]))).toBe('invalid_triple')
    })

    it('answers data that is nested too deep with the one declared 500', async () => {
      await sql`
        insert into relation_tuples
        select gen_random_uuid(), 'group', 'g' || (n + 1), 'member', 'member', 'group', 'g' || n, '', '[]', null, null, false, 1, now()
        from generate_series(0, 60) as n`.execute(inUse.current().pool('interactive'))
      await feed.start()
      expect(await codeOf(() => ask([ANN, 'member', 'group:g0']))).toBe('internal')
      expect(ask([ANN, 'member', 'group:g30'])).toMatchObject({ allowed: false })
    })

    it('does not let groups contain each other, nor nest deeper than 40', async () => {
      await feed.start()
      const nest = (outer: string, inner: string) =>
        grant({ subject: `group:${inner}#member`, relation: 'member', resource: `group:${outer}` })
      for (let level = 0; level < 40; level++) await nest(`g${level}`, `g${level + 1}`)
      expect(await codeOf(() => nest('g40', 'g0'))).toBe('invalid_triple')
      expect(await codeOf(() => nest('g40', 'g41'))).toBe('invalid_triple')
      await grant({ subject: ANN, relation: 'member', resource: 'group:g40' })
      expect(ask([ANN, 'member', 'group:g0'])).toMatchObject({ allowed: true })
    })

    describe('a caveated grant', () => {
      let domainId: string
      let asked: readonly [string, string, string]
      const caveated = (caveatName: string) =>
        grant({ subject: ANN, relation: 'admin', resource: `domain:${domainId}`, caveatName }, domainId)

      beforeEach(async () => {
        await feed.start()
        const hours = { time_zone: 'Europe/Berlin', days: [1], from: '09:00', to: '17:00' }
        domainId = await addedDomain('home', { trusted_networks: ['10.0.0.0/8'], business_hours: hours })
        asked = [ANN, 'manage', `domain:${domainId}`]
      })

      it('reads the settings of its own Domain', async () => {
        await addedDomain('abroad', { trusted_networks: ['192.168.0.0/16'] })
        await caveated('from_network')
        expect(await ask(asked, { sourceIp: '10.1.2.3' })).toEqual({ allowed: true, path: ['admin'] })
        expect(await ask(asked, { sourceIp: '192.168.1.1' })).toEqual({ allowed: false, reason: 'caveat_violation' })
      })

      it('is answered without waiting once the settings are known', async () => {
        await caveated('within_hours')
        expect(ask(asked)).toBeInstanceOf(Promise)
        await ask(asked)
        expect(ask(asked)).toEqual({ allowed: true, path: ['admin'] })
        expect(ask(asked, { nowMs: NOW_MS + 24 * 3_600_000 })).toEqual({ allowed: false, reason: 'caveat_violation' })
      })

      it('follows the settings as they change', async () => {
        await caveated('from_network')
        expect(await ask(asked, { sourceIp: '10.1.2.3' })).toMatchObject({ allowed: true })
        await change(async (tx) => {
          const trusted = JSON.stringify(['172.16.0.0/12'])
          await tx.db.updateTable('domains').set({ trusted_networks: trusted }).where('id', '=', domainId).execute()
          tx.domainChanged(domainId)
        })
        expect(await ask(asked, { sourceIp: '10.1.2.3' })).toMatchObject({ reason: 'caveat_violation' })
        expect(await ask(asked, { sourceIp: '172.16.0.1' })).toMatchObject({ allowed: true })
      })

      it('is denied where a field is not known or may not be used', async () => {
        await caveated('from_network')
        const violation = { allowed: false, reason: 'caveat_violation' }
        expect(await ask(asked)).toEqual(violation)
        expect(await ask(asked, { sourceIp: '10.1.2.3' }, new Set())).toEqual(violation)
        expect(await ask(asked, { sourceIp: '10.1.2.3' }, new Set(['source_ip']))).toEqual(violation)
        const both = new Set(['source_ip', 'trusted_networks'])
        expect(await ask(asked, { sourceIp: '10.1.2.3' }, both)).toMatchObject({ allowed: true })
      })

      it('says nothing to whom it does not concern', async () => {
        await caveated('strong_auth')
        expect(await ask([BOB, 'manage', `domain:${domainId}`])).toEqual({
          allowed: false,
          reason: 'insufficient_relation',
          isUnconditional: true,
        })
        expect(await ask(asked)).toEqual({ allowed: false, reason: 'caveat_violation' })
      })
    })

    it('knows the names of the schema and what grants what', () => {
      expect(authorizer.hasRelation('node', 'node-operate')).toBe(true)
      expect(authorizer.hasRelation('domain', 'auditor')).toBe(true)
      expect(authorizer.hasRelation('domain', 'auditor_role')).toBe(false)
      expect(authorizer.hasRelation('node', 'fly')).toBe(false)
      expect(authorizer.hasRelation('disk', 'read')).toBe(false)
      expect(authorizer.pathOf('domain', 'read')).toEqual([
        'operate',
        'manage',
        'admin',
        'platform',
        'operator',
        'auditor',
        'viewer',
      ])
      expect(authorizer.pathOf('platform', 'manage')).toEqual(['admin'])
      expect(authorizer.pathOf('domain', 'auditor')).toEqual(['auditor', 'platform'])
      expect(authorizer.pathOf('domain', 'admin')).toEqual([])
      expect(authorizer.pathOf('disk', 'read')).toEqual([])
    })
  })
})

describe.skipIf(POSTGRES.missing)('two replicas on one PostgreSQL', () => {
  const inUse = useDatastore(POSTGRES)

  it('refuse on one what was taken back on the other, once its revision has come', async () => {
    await emptyTables(inUse.current())
    const replicas = [0, 1].map(() => {
      const feed = createChangeFeed({ datastore: inUse.current(), warn })
      return { feed, authorizer: createEmbeddedAuthorizer({ datastore: inUse.current(), changeFeed: feed }) }
    })
    const [here, there] = replicas
    if (here === undefined || there === undefined) throw new Error('two replicas')
    for (const { feed } of replicas) await feed.start()
    const clock = { now: () => NOW_MS }
    const unitOfWork = createUnitOfWork({
      datastore: inUse.current(),
      feed: here.feed,
      clock,
      ids: createUuidV7(clock),
      validateTuple: here.authorizer.validateTuple,
      onAuditFailure: (error: unknown) => warn('audit', error),
      onLateFeed: (error) => warn('late', error),
    })
    const change = <T>(work: (tx: Change) => Promise<T>) =>
      unitOfWork.run({ pool: 'interactive', correlationId: 'arranged' }, work)
    const question = { subject: ANN, relation: 'manage', resource: PLATFORM, facts: { nowMs: NOW_MS }, wantPath: false }
    const tuple = { subject: ANN, relation: 'admin', resource: PLATFORM }

    await change((tx) => tx.tuples.create(tuple, { domainId: null, projectId: null }))
    await there.feed.waitFor(here.feed.revision(), 1_000)
    expect(there.authorizer.check(question)).toMatchObject({ allowed: true })
    await change((tx) => tx.tuples.deleteObject(ANN))
    await there.feed.waitFor(here.feed.revision(), 1_000)
    expect(there.authorizer.check(question)).toMatchObject({ allowed: false })
    for (const { feed } of replicas) feed.stop()
  })
})

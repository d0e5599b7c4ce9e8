import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { createChangeFeed, type FollowedFeed } from '../../src/server/adapters/postgres/change-feed.ts'
import { createUnitOfWork } from '../../src/server/adapters/postgres/unit-of-work.ts'
import type { FeedChange } from '../../src/server/ports/change-feed.ts'
import type { AuditEntry, Change, UnitOfWork } from '../../src/server/ports/unit-of-work.ts'
import { problem } from '../../src/shared/problems.ts'
import { emptyTables } from '../support/datastores/empty-tables.ts'
import { type TestStore, useDatastore } from '../support/datastores/stores.ts'

const NOW = Date.parse('2026-03-01T08:00:00.000Z')
const ADA = 'user:018f0000-0000-7000-8000-000000000001'
const HOME = '018f0000-0000-7000-8000-00000000000d'
const NOWHERE = { domainId: null, projectId: null }
const ADMIN_OF_PLATFORM = { subject: ADA, relation: 'admin', resource: 'platform:main' }
const ADMIN_OF_PLATFORM_ID = '718cf852-d709-5807-824e-99d8ad98e617'
const EVENT = {
  event: 'GroupCreated',
  domainId: HOME,
  aggregate: 'group:1',
  payload: { group_id: '1', slug: 'ops' },
} as const
const AUDITED: AuditEntry = {
  domainId: HOME,
  subject: ADA,
  relation: 'group.create',
  object: `domain:${HOME}`,
  outcome: 'granted',
  reason: '',
  correlationId: 'request-1',
  context: { item_count: 1 },
}

/** What the unit of work promises over every datastore (`ports/unit-of-work.ts`). */
export function unitOfWorkContract(store: TestStore): void {
  describe.skipIf(store.missing)(`the unit of work on the ${store.name} datastore`, () => {
    const inUse = useDatastore(store)
    let feed: FollowedFeed
    let unitOfWork: UnitOfWork
    let auditFailures: { error: unknown; entry: AuditEntry }[]
    let seen: FeedChange[]
    let auditId: () => string

    const db = () => inUse.current().pool('interactive')
    const rowsOf = async (table: 'relation_tuples' | 'outbox' | 'audit' | 'authz_changes' | 'groups') =>
      await db().selectFrom(table).selectAll().execute()
    const head = async () => (await db().selectFrom('authz_head').select('revision').executeTakeFirstOrThrow()).revision
    const run = <T>(work: (change: Change) => Promise<T>, audit?: () => AuditEntry) =>
      unitOfWork.run(
        { pool: 'interactive', correlationId: 'request-1', ...(audit && { audit: () => [audit()] }) },
        work,
      )

    beforeEach(async () => {
      await emptyTables(inUse.current())
      let audits = 0
      auditId = () => `018f0000-0000-7000-8000-0000000a00${String((audits += 1)).padStart(2, '0')}`
      auditFailures = []
      seen = []
      feed = createChangeFeed({ datastore: inUse.current(), warn: fail, pollIntervalMs: 3_600_000 })
      feed.subscribe((change) => void seen.push(change))
      await feed.start()
      unitOfWork = createUnitOfWork({
        datastore: inUse.current(),
        feed,
        clock: { now: () => NOW },
        ids: { next: () => auditId() },
        validateTuple(tuple, { structural }) {
          if (tuple.relation === 'nonsense' || structural !== ['domain', 'project'].includes(tuple.relation))
            throw problem('invalid_triple')
        },
        onAuditFailure: (error, entry) => void auditFailures.push({ error, entry }),
        onLateFeed: (error) => fail('the feed is late', error),
      })
      return () => feed.stop()
    })

    test('keeps the change, its outbox row, its audit row and its tuples together', async () => {
      const result = await run(
        async (change) => {
          await change.db
            .insertInto('domains')
            .values({ id: HOME, slug: 'home', display_name: 'Home', mesh_cidr: '100.64.0.0/10', ...SETTINGS })
            .execute()
          await change.tuples.create({ ...ADMIN_OF_PLATFORM, caveatFields: ['now'] }, NOWHERE)
          change.emit(EVENT)
          return 'made'
        },
        () => AUDITED,
      )
      expect(result).toBe('made')
      expect(await db().selectFrom('domains').select('slug').execute()).toEqual([{ slug: 'home' }])
      expect(await rowsOf('outbox')).toEqual([
        {
          id: '1',
          seq: null,
          event: 'GroupCreated',
          domain_id: HOME,
          aggregate: 'group:1',
          payload: { group_id: '1', slug: 'ops' },
          correlation_id: 'request-1',
          occurred_at: new Date(NOW),
        },
      ])
      expect(await rowsOf('audit')).toEqual([
        {
          id: '018f0000-0000-7000-8000-0000000a0001',
          at: new Date(NOW),
          domain_id: HOME,
          subject: ADA,
          relation: 'group.create',
          object: `domain:${HOME}`,
          outcome: 'granted',
          reason: '',
          correlation_id: 'request-1',
          context: { item_count: 1 },
        },
      ])
      expect(await rowsOf('relation_tuples')).toEqual([
        {
          id: ADMIN_OF_PLATFORM_ID,
          subject_type: 'user',
          subject_id: '018f0000-0000-7000-8000-000000000001',
          subject_relation: '',
          relation: 'admin',
          resource_type: 'platform',
          resource_id: 'main',
          caveat_name: '',
          caveat_fields: ['now'],
          domain_id: null,
          project_id: null,
          structural: false,
          revision: '1',
          state: 'live',
          created_at: new Date(NOW),
        },
      ])
      expect(auditFailures).toEqual([])
    })

    test('keeps nothing when the work rejects', async () => {
      const work = run(
        async (change) => {
          await change.tuples.create(ADMIN_OF_PLATFORM, NOWHERE)
          change.emit(EVENT)
          throw new Error('changed my mind')
        },
        () => AUDITED,
      )
      await expect(work).rejects.toThrow('changed my mind')
      expect([await rowsOf('outbox'), await rowsOf('audit'), await rowsOf('relation_tuples')]).toEqual([[], [], []])
      expect(await head()).toBe('0')
      expect(seen).toEqual([])
    })

    test('keeps nothing when an outbox row is refused', async () => {
      const work = run(async (change) => {
        await change.tuples.create(ADMIN_OF_PLATFORM, NOWHERE)
        change.emit({ ...EVENT, domainId: 'not a uuid' })
      })
      await expect(work).rejects.toThrow(/uuid/)
      expect(await rowsOf('relation_tuples')).toEqual([])
    })

    test('keeps the change when its audit row is refused, and reports that', async () => {
      auditId = () => '018f0000-0000-7000-8000-0000000a0001'
      await run(
        async (change) => change.emit(EVENT),
        () => AUDITED,
      )
      await run(
        async (change) => {
          await change.tuples.create(ADMIN_OF_PLATFORM, NOWHERE)
          change.emit(EVENT)
        },
        () => AUDITED,
      )
      expect(await rowsOf('outbox')).toHaveLength(2)
      expect(await rowsOf('relation_tuples')).toHaveLength(1)
      expect(await rowsOf('audit')).toHaveLength(1)
      expect(auditFailures).toMatchObject([{ error: { failure: 'unique', constraint: 'audit_pkey' }, entry: AUDITED }])
    })

    test('writes the audit rows that the change adds after those of its requests, under its correlation id', async () => {
      const { correlationId: _, ...withdrawal } = { ...AUDITED, subject: 'system:approvals', object: 'approval:1' }
      await run(
        async (change) => {
          change.audit(withdrawal)
          change.audit({ ...withdrawal, object: 'approval:\u0000' })
          change.emit(EVENT)
        },
        () => AUDITED,
      )
      const written = await db()
        .selectFrom('audit')
        .select(['subject', 'object', 'domain_id', 'correlation_id'])
        .orderBy('id')
        .execute()
      expect(written).toEqual([
        { subject: ADA, object: `domain:${HOME}`, domain_id: HOME, correlation_id: 'request-1' },
        { subject: 'system:approvals', object: 'approval:1', domain_id: HOME, correlation_id: 'request-1' },
      ])
      expect(await rowsOf('outbox')).toHaveLength(1)
      expect(auditFailures).toMatchObject([{ entry: { object: 'approval:\u0000', correlationId: 'request-1' } }])
    })

    test('keeps no audit row that a change adds when its work rejects', async () => {
      const { correlationId: _, ...withdrawal } = AUDITED
      const work = run(async (change) => {
        change.audit(withdrawal)
        throw new Error('changed my mind')
      })
      await expect(work).rejects.toThrow('changed my mind')
      expect(await rowsOf('audit')).toEqual([])
    })

    test('writes an audit row for each request whose change it is, but for one that is refused', async () => {
      const row = (object: string, domainId: string | null): AuditEntry => ({ ...AUDITED, object, domainId })
      const entries = [row('node:1', HOME), row('node:\u0000', HOME), row('node:3', null), row('node:"4"', HOME)]
      const options = { pool: 'interactive', correlationId: 'request-1', audit: () => entries } as const
      await unitOfWork.run(options, async (change) => change.emit(EVENT))
      expect(await rowsOf('outbox')).toHaveLength(1)
      const written = await db().selectFrom('audit').select(['object', 'domain_id']).orderBy('id').execute()
      expect(written).toEqual([
        { object: 'node:1', domain_id: HOME },
        { object: 'node:3', domain_id: null },
        { object: 'node:"4"', domain_id: HOME },
      ])
      expect(auditFailures).toMatchObject([{ error: { code: '22P05' }, entry: entries[1] }])
      expect(await db().selectFrom('audit_gaps').select(['domain_id', 'row_count']).execute()).toEqual([
        { domain_id: HOME, row_count: 1 },
      ])
    })

    test('commits with the change that its audit row is missing', async () => {
      auditId = () => '018f0000-0000-7000-8000-0000000a0001'
      for (let time = 0; time < 2; time++)
        await run(
          async (change) => change.emit(EVENT),
          () => AUDITED,
        )
      expect(await db().selectFrom('audit_gaps').select(['domain_id', 'row_count']).execute()).toEqual([
        { domain_id: HOME, row_count: 1 },
      ])
    })

    test.each([
      ['a value that cannot be stored', { object: 'group:\u0000' }, [{ code: '22P05' }]],
      ['a Domain that its chain cannot have either', { domainId: 'none' }, [{ code: '22P02' }, { code: '22P02' }]],
    ])('keeps the change whose audit row has %s', async (_, wrong, codes) => {
      await run(
        async (change) => change.emit(EVENT),
        () => ({ ...AUDITED, ...wrong }),
      )
      expect(await rowsOf('outbox')).toHaveLength(1)
      expect(await rowsOf('audit')).toEqual([])
      const refusals = auditFailures.flatMap(({ error }) => (error instanceof AggregateError ? error.errors : [error]))
      expect(refusals).toMatchObject(codes)
    })

    // The embedded engine cannot be interrupted.
    test.skipIf(store.name === 'embedded')('keeps the change whose audit row takes too long', async () => {
      await sql`
        create function wait_long() returns trigger language plpgsql as $$ begin perform pg_sleep(60); return new; end $$`.execute(
        db(),
      )
      await sql`create trigger wait_long before insert on audit for each row execute function wait_long()`.execute(db())
      await run(
        async (change) => {
          await sql`set local statement_timeout = 100`.execute(change.db)
          change.emit(EVENT)
        },
        () => AUDITED,
      )
      await sql`drop function wait_long cascade`.execute(db())
      expect(await rowsOf('outbox')).toHaveLength(1)
      expect(await db().selectFrom('audit_gaps').select(['domain_id', 'row_count']).execute()).toEqual([
        { domain_id: HOME, row_count: 1 },
      ])
      expect(auditFailures).toMatchObject([{ error: { failure: 'unavailable', cause: { code: '57014' } } }])
    })

    test('asks for the audit row after the work, so that it can name what the work found', async () => {
      let found = 0
      await run(
        async () => {
          found = 3
        },
        () => ({ ...AUDITED, context: { item_count: found } }),
      )
      expect(await rowsOf('audit')).toMatchObject([{ context: { item_count: 3 } }])
    })

    test('writes outbox rows in the order in which they were emitted', async () => {
      await run(async (change) => {
        for (const event of ['GroupDeleted', 'GroupCreated', 'GroupUpdated'] as const) change.emit({ ...EVENT, event })
      })
      const written = (await rowsOf('outbox')).map((row) => 'event' in row && row.event)
      expect(written).toEqual(['GroupDeleted', 'GroupCreated', 'GroupUpdated'])
    })

    test('leaves the head alone when nothing needs it', async () => {
      await run(
        async (change) => change.emit(EVENT),
        () => AUDITED,
      )
      expect(await head()).toBe('0')
      expect(await rowsOf('authz_changes')).toEqual([])
    })

    test('returns after this process has applied what it changed, all under one revision', async () => {
      await run(async (change) => {
        await change.tuples.create(ADMIN_OF_PLATFORM, NOWHERE)
        change.credentialChanged('api-token', 'token-1')
        change.domainChanged(HOME)
      })
      expect(feed.revision()).toBe(1n)
      expect(seen).toEqual([
        {
          revision: 1n,
          kind: 'tuple_touched',
          payload: {
            id: ADMIN_OF_PLATFORM_ID,
            subject_type: 'user',
            subject_id: '018f0000-0000-7000-8000-000000000001',
            subject_relation: '',
            relation: 'admin',
            resource_type: 'platform',
            resource_id: 'main',
            caveat_name: '',
            domain_id: null,
          },
        },
        { revision: 1n, kind: 'credential_changed', payload: { kind: 'api-token', id: 'token-1' } },
        { revision: 1n, kind: 'domain_changed', payload: { domainId: HOME } },
      ])
      const stored = (await rowsOf('authz_changes')).map(
        (row) => 'ordinal' in row && [row.revision, row.ordinal, row.kind],
      )
      expect(stored).toEqual([
        ['1', 1, 'tuple_touched'],
        ['1', 2, 'credential_changed'],
        ['1', 3, 'domain_changed'],
      ])
    })

    test('numbers concurrent changes without a gap or a double', async () => {
      const runs = Array.from({ length: 25 }, (_, index) =>
        run(async (change) => change.credentialChanged('nsk', `key-${index}`)),
      )
      await Promise.all(runs)
      expect(seen.map(({ revision }) => revision)).toEqual(Array.from({ length: 25 }, (_, index) => BigInt(index + 1)))
    })

    describe('tuples', () => {
      const create = (tuple: Parameters<Change['tuples']['create']>[0]) =>
        run((change) => change.tuples.create(tuple, NOWHERE))

      test('an identical live tuple is not written again', async () => {
        expect(await create(ADMIN_OF_PLATFORM)).toMatchObject(ADMIN_OF_PLATFORM)
        expect(await create(ADMIN_OF_PLATFORM)).toBeUndefined()
        expect(await head()).toBe('1')
        expect(await create({ ...ADMIN_OF_PLATFORM, caveatName: 'within_hours' })).toBeDefined()
        expect(await rowsOf('relation_tuples')).toHaveLength(2)
      })

      test('of two writers of one tuple only one has written it', async () => {
        const written = await Promise.all([create(ADMIN_OF_PLATFORM), create(ADMIN_OF_PLATFORM)])
        expect(written.filter((tuple) => tuple !== undefined)).toHaveLength(1)
      })

      test.each([
        ['a role', ADMIN_OF_PLATFORM],
        ['a role with a caveat', { ...ADMIN_OF_PLATFORM, caveatName: 'within_hours', caveatFields: ['now', 'at'] }],
        ['the role of a group', { ...ADMIN_OF_PLATFORM, subject: 'group:ops#member' }],
      ])('%s that was created is the one that a deletion reads', async (_, tuple) => {
        const created = await create(tuple)
        expect(created).toMatchObject(tuple)
        expect(await run((change) => change.tuples.delete(created?.id ?? ''))).toEqual(created)
      })

      test('what the schema refuses is not written', async () => {
        await expect(create({ ...ADMIN_OF_PLATFORM, relation: 'nonsense' })).rejects.toMatchObject({
          code: 'invalid_triple',
        })
        expect(await rowsOf('relation_tuples')).toEqual([])
      })

      test('a deleted tuple is given back, once', async () => {
        await create({ ...ADMIN_OF_PLATFORM, subject: 'group:ops#member', caveatName: 'within_hours' })
        const [row] = await rowsOf('relation_tuples')
        const id = row && 'id' in row ? row.id : ''
        const deleted = await run((change) => change.tuples.delete(id))
        expect(deleted).toEqual({
          id,
          subject: 'group:ops#member',
          relation: 'admin',
          resource: 'platform:main',
          caveatName: 'within_hours',
          caveatFields: [],
          createdAt: new Date(NOW),
          domainId: null,
          projectId: null,
          structural: false,
        })
        expect(await run((change) => change.tuples.delete(id))).toBeUndefined()
        expect(seen.map(({ kind: what }) => what)).toEqual(['tuple_touched', 'tuple_deleted'])
      })

      test('a structural tuple is not found by deletion, but goes with its object', async () => {
        const parent = { subject: `domain:${HOME}`, relation: 'domain', resource: 'node:n1' }
        await run((change) => change.tuples.createStructural(parent, { domainId: HOME, projectId: null }))
        const [row] = await rowsOf('relation_tuples')
        expect(await run((change) => change.tuples.delete(row && 'id' in row ? row.id : ''))).toBeUndefined()
        expect(await run((change) => change.tuples.deleteObject('node:n1'))).toBe(1)
        expect(await rowsOf('relation_tuples')).toEqual([])
      })

      test('a structural tuple is removed by its content, and nothing beside it', async () => {
        const [parent, other] = (['d1', 'd2'] as const).map((id) => ({
          subject: `domain:${id}`,
          relation: 'domain',
          resource: 'node:n1',
        }))
        if (parent === undefined || other === undefined) throw new Error('two edges')
        for (const edge of [parent, other]) await run((change) => change.tuples.createStructural(edge, NOWHERE))
        const role = { subject: 'domain:d1', relation: 'operator', resource: 'node:n1' }
        await create(role)
        seen.length = 0
        expect(await run((change) => change.tuples.removeStructural(parent))).toBe(true)
        expect(seen).toMatchObject([{ kind: 'tuple_deleted', payload: { subject_id: 'd1', relation: 'domain' } }])
        expect(await rowsOf('relation_tuples')).toMatchObject([{ subject_id: 'd2' }, { relation: 'operator' }])
        expect(await run((change) => change.tuples.removeStructural(parent))).toBe(false)
        expect(await run((change) => change.tuples.removeStructural(role))).toBe(false)
        await run((change) => change.tuples.createStructural(parent, NOWHERE))
        expect(await rowsOf('relation_tuples')).toHaveLength(3)
      })

      test('an object that moves keeps its roles, and has the edge to its new Project alone', async () => {
        const [P1, P2] = ['018f0000-0000-7000-8000-0000000000a1', '018f0000-0000-7000-8000-0000000000a2'] as const
        const from = { domainId: HOME, projectId: P1 }
        const to = { domainId: HOME, projectId: P2 }
        const edge = (project: string) => ({ subject: `project:${project}`, relation: 'project', resource: 'node:n1' })
        const role = { subject: 'user:u1', relation: 'operator', resource: 'node:n1' }
        await run(async (change) => {
          await change.tuples.createStructural(edge(P1), from)
          await change.tuples.create(role, from)
        })
        await run((change) => change.tuples.moveObject('node:n1', from, to))
        const shown = async () =>
          (await rowsOf('relation_tuples'))
            .map((row) => ('relation' in row ? `${row.relation} ${row.subject_id} ${String(row.project_id)}` : ''))
            .toSorted()
        expect(await shown()).toEqual([`operator u1 ${P2}`, `project ${P2} ${P2}`])
        await run((change) => change.tuples.moveObject('node:n1', to, { domainId: HOME, projectId: null }))
        expect(await shown()).toEqual(['operator u1 null'])
      })

      test('an object that goes takes every tuple with it on either side, and no other', async () => {
        await create({ subject: 'user:u1', relation: 'member', resource: 'group:ops' })
        await create({ subject: 'group:ops#member', relation: 'viewer', resource: 'platform:main' })
        await create({ subject: 'user:u1', relation: 'member', resource: 'group:dev' })
        expect(await run((change) => change.tuples.deleteObject('group:ops'))).toBe(2)
        expect(await rowsOf('relation_tuples')).toMatchObject([{ resource_id: 'dev' }])
      })
    })
  })
}

const SETTINGS = {
  endpoint_ttl_seconds: 300,
  trusted_networks: '[]',
  business_hours: 'null',
  strong_acr: '[]',
  created_at: new Date(NOW),
  updated_at: new Date(NOW),
}

function fail(message: string, cause?: unknown): never {
  throw new Error(message, { cause })
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAuditSink } from '../../src/server/adapters/postgres/audit-sink.ts'
import { startAccess, type Access, type Answer, type Person } from '../support/server/access.ts'
import { START_MS } from '../support/server/test-backend.ts'
import { STORES, useDatastore } from '../support/datastores/stores.ts'

/** Before everything that the requests of the tests leave. */
const PAST_MS = START_MS - 3_600_000
const ID = '01935b5e-8f3a-7c61-9d0c-00000000000'

describe.each(STORES)('the audit list on $name', (store) => {
  describe.skipIf(store.missing)('', () => {
    const inUse = useDatastore(store)
    let access: Access
    let domainId: string
    let auditor: Person
    let overseer: Person
    beforeAll(async () => {
      access = await startAccess(inUse.current())
      domainId = await access.domain('acme')
      const home = await access.domain('home')
      auditor = await access.person(home)
      overseer = await access.person(home)
      await access.grant(auditor.subject, 'auditor', `domain:${domainId}`, domainId)
      await access.grant(overseer.subject, 'auditor', 'platform:main')
      const base = { domainId, reason: 'granted', correlationId: 'c-1', context: {} }
      await createAuditSink(access.datastore).write([
        {
          ...base,
          id: `${ID}1`,
          atMs: PAST_MS,
          subject: 'user:a',
          relation: 'r.one',
          object: 'node:1',
          outcome: 'granted',
        },
        {
          ...base,
          id: `${ID}2`,
          atMs: PAST_MS,
          subject: 'user:b',
          relation: 'r.two',
          object: 'node:2',
          outcome: 'permission_denied',
          reason: 'insufficient_relation',
          correlationId: 'c-2',
          context: { item_count: 3 },
        },
        {
          ...base,
          id: `${ID}3`,
          atMs: PAST_MS + 1000,
          subject: 'user:a',
          relation: 'r.two',
          object: 'node:2',
          outcome: 'not_found',
        },
        {
          ...base,
          id: `${ID}4`,
          atMs: PAST_MS + 2000,
          subject: 'user:c',
          relation: 'r.one',
          object: 'node:1',
          outcome: 'granted',
        },
        {
          ...base,
          id: `${ID}5`,
          atMs: PAST_MS,
          domainId: null,
          subject: 'user:p',
          relation: 'r.one',
          object: 'platform:main',
          outcome: 'granted',
        },
      ])
    })
    afterAll(() => access.stop())

    const list = (caller: Person, query: string) => access.call(caller.token, `GET /v1/audit?${query}`)
    const ofDomain = (query = '') => list(auditor, `domain_id=${domainId}${query}`)
    const PAST = '&until=2026-03-01T07:00:03Z'
    const endsOf = (answer: Answer) => answer.body.items.map(({ id }) => Number(id.at(-1)))

    it('shows the decisions of the Domain, newest first', async () => {
      const answer = await ofDomain(`${PAST}&limit=4`)
      expect(answer.status).toBe(200)
      expect(endsOf(answer)).toEqual([4, 3, 2, 1])
      expect(answer.body.items[2]).toEqual({
        id: `${ID}2`,
        at: '2026-03-01T07:00:00.000Z',
        domain_id: domainId,
        subject: 'user:b',
        relation: 'r.two',
        object: 'node:2',
        outcome: 'permission_denied',
        reason: 'insufficient_relation',
        correlation_id: 'c-2',
        context: { item_count: 3 },
        subject_name: null,
        object_name: null,
      })
    })

    it('shows the present names of what the caller may read, and null for the rest', async () => {
      const named = await access.domain('named')
      await access.grant(auditor.subject, 'auditor', `domain:${named}`, named)
      const member = await access.person(named)
      const nameOf = async ({ subject }: Person) => {
        const principals = access.datastore.pool('interactive').selectFrom('principals').select('display_name')
        return (await principals.where('id', '=', subject.split(':')[1] ?? '').executeTakeFirstOrThrow()).display_name
      }
      const row = (end: number, subject: string, object: string) => ({
        id: `${ID.replace('9d0c', '9d0e')}${end}`,
        atMs: PAST_MS - 2000 + end,
        domainId: named,
        subject,
        relation: 'node.update',
        object,
        outcome: 'granted' as const,
        reason: 'granted',
        correlationId: 'c-names',
        context: {},
      })
      await createAuditSink(access.datastore).write([
        row(1, member.subject, `domain:${named}`),
        row(2, auditor.subject, `node:${ID}9`),
        row(3, 'system:rollouts', 'node:one'),
        row(4, `user:${ID}9`, `token:${ID}9`),
      ])
      const namesOf = async (caller: Person) =>
        (await list(caller, `domain_id=${named}&correlation_id=c-names`)).body.items.map(
          ({ subject_name, object_name }) => [subject_name, object_name],
        )
      const known = [await nameOf(member), 'named']
      const nothing = [null, null]
      expect(await namesOf(auditor)).toEqual([nothing, nothing, nothing, known])
      expect(await namesOf(overseer)).toEqual([nothing, nothing, [await nameOf(auditor), null], known])
      const ofServer = await list(auditor, `domain_id=${named}&actor=system`)
      expect(endsOf(ofServer)).toEqual([3])
    })

    it.each([
      ['subject=user:a', [3, 1]],
      ['relation=r.two', [3, 2]],
      ['object=node:1', [4, 1]],
      ['outcome=granted&until=2026-03-01T07:00:03Z', [4, 1]],
      ['correlation_id=c-2', [2]],
      ['since=2026-03-01T07:00:01Z&relation=r.one', [4]],
      ['since=2026-03-01T09:00:01%2B02:00&subject=user:a', [3]],
      ['until=2026-03-01T07:00:01Z&correlation_id=c-1', [1]],
      ['subject=user:a&relation=r.two&object=node:2&outcome=not_found&correlation_id=c-1', [3]],
      ['subject=user:nobody', []],
      ['relation_prefix=r.', []],
      ['actor=user&relation=r.two', [3, 2]],
      ['actor=service&relation=r.two', []],
    ])('filters by %s', async (filter, ends) => {
      expect(endsOf(await ofDomain(`&${filter}`))).toEqual(ends)
    })

    describe('of rows with relations of the contract', () => {
      let other: string
      const ofOther = (query: string) => list(auditor, `domain_id=${other}&correlation_id=c-3&${query}`)
      const row = (end: number, subject: string, relation: string) => ({
        id: `${ID.replace('9d0c', '9d0d')}${end}`,
        atMs: PAST_MS - 1000 + end,
        domainId: other,
        subject,
        relation,
        object: 'node:1',
        outcome: 'granted' as const,
        reason: 'granted',
        correlationId: 'c-3',
        context: {},
      })
      beforeAll(async () => {
        other = await access.domain('other')
        await access.grant(auditor.subject, 'auditor', `domain:${other}`, other)
        await createAuditSink(access.datastore).write([
          row(1, 'user:a', 'node.list'),
          row(2, 'user:a', 'node.deregister'),
          row(3, 'serviceaccount:a', 'node.deregister'),
          row(4, 'node:a', 'node_endpoint.record'),
          row(5, 'serviceaccount:a', 'authz.check'),
          row(6, 'serviceaccount:a', 'authz.explain'),
          row(7, 'user:a', 'audit.gap'),
        ])
      })

      it.each([
        ['only=writes', [4, 3, 2]],
        ['only=writes&actor=service', [3]],
        ['only=writes&relation_prefix=node.', [3, 2]],
        ['relation_prefix=node.', [3, 2, 1]],
        ['relation_prefix=node', [4, 3, 2, 1]],
        ['relation_prefix=authz.', [6, 5]],
        ['relation_prefix=audit.g', [7]],
        ['relation_prefix=node.&relation=node.list', [1]],
        ['relation_prefix=no.such', []],
        ['relation=no.such', []],
        ['actor=node', [4]],
        ['actor=service', [6, 5, 3]],
        ['only=writes&limit=2', [4, 3]],
      ])('filters by %s', async (filter, ends) => {
        expect(endsOf(await ofOther(filter))).toEqual(ends)
      })

      it('pages through writes without loss', async () => {
        const first = await ofOther('only=writes&limit=2')
        expect(endsOf(await ofOther(`only=writes&limit=2&cursor=${first.body.next_cursor}`))).toEqual([2])
      })
    })

    it('pages through rows of the same instant without loss', async () => {
      const seen: number[] = []
      let cursor = ''
      for (let page = 0; page < 4; page++) {
        const answer = await ofDomain(`${PAST}&limit=1${cursor}`)
        seen.push(...endsOf(answer))
        cursor = `&cursor=${answer.body.next_cursor}`
        if (page === 3) expect(answer.body.next_cursor).toBeNull()
      }
      expect(seen).toEqual([4, 3, 2, 1])
    })

    it("refuses another caller's cursor", async () => {
      const first = await ofDomain('&limit=1')
      const answer = await list(overseer, `domain_id=${domainId}&limit=1&cursor=${first.body.next_cursor}`)
      expect([answer.status, answer.body.code]).toEqual([403, 'cursor_binding_mismatch'])
    })

    it("shows the platform's own decisions to its auditors", async () => {
      const answer = await list(overseer, 'scope=platform&subject=user:p')
      expect(endsOf(answer)).toEqual([5])
      expect(answer.body.items[0]?.domain_id).toBeNull()
      expect((await list(overseer, `domain_id=${domainId}&subject=user:b`)).body.items).toHaveLength(1)
    })

    it('refuses those who are no auditors there', async () => {
      const admin = await access.person(domainId)
      await access.grant(admin.subject, 'admin', `domain:${domainId}`, domainId)
      const answer = await list(admin, `domain_id=${domainId}`)
      expect(answer.status).toBe(403)
      expect(answer.body.missing_relation).toEqual({
        object: `domain:${domainId}`,
        relation: 'auditor',
        subject: admin.subject,
      })
      expect((await list(auditor, 'scope=platform')).status).toBe(403)
      expect(await access.audited(answer)).toMatchObject([{ relation: 'audit.list', outcome: 'permission_denied' }])
    })

    it.each([
      ['', 'invalid_audit_filter'],
      ['domain_id=ID&scope=platform', 'invalid_audit_filter'],
      ['scope=domain', 'invalid_audit_filter'],
      ['domain_id=nonsense', 'invalid_domain_id'],
      ['domain_id=ID&outcome=perhaps', 'invalid_audit_filter'],
      ['domain_id=ID&since=yesterday', 'invalid_audit_filter'],
      ['domain_id=ID&since=0000-01-01T00:00:00Z', 'invalid_audit_filter'],
      ['domain_id=ID&until=9999-12-31T23:59:59-23:59', 'invalid_audit_filter'],
      ['domain_id=ID&since=2026-03-01T09:00:00Z&until=2026-03-01T08:00:00Z', 'invalid_audit_filter'],
      ['domain_id=ID&limit=0', 'invalid_limit'],
      ['domain_id=ID&cursor=x', 'invalid_cursor'],
      ['domain_id=ID&subject=', 'invalid_audit_filter'],
      ['domain_id=ID&actor=everybody', 'invalid_audit_filter'],
      ['domain_id=ID&only=reads', 'invalid_audit_filter'],
      ['domain_id=ID&relation_prefix=', 'invalid_audit_filter'],
      ['domain_id=ID&colour=red', 'invalid_query'],
    ])('refuses the query %j', async (query, code) => {
      const answer = await list(auditor, query.replace('ID', domainId))
      expect([answer.status, answer.body.code]).toEqual([400, code])
    })

    it('audits the look itself', async () => {
      const answer = await ofDomain('&subject=user:a')
      expect(await access.audited(answer)).toMatchObject([
        { relation: 'audit.list', object: `domain:${domainId}`, outcome: 'granted', context: { item_count: 2 } },
      ])
    })
  })
})

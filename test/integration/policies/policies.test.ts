import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rowsOfPolicies } from './rows-of-policies.ts'
import type { Answer } from '../../support/server/control-plane.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { startPolicedFleet, type PolicedFleet } from '../../support/fleet/policed-fleet.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const SSH = { direction: 'ingress', peers: 'role=admin', protocol: 'tcp', ports: ['22'] } as const

describe.each(STORES)('Policies on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: PolicedFleet
    let domainId: string
    let [web, db, admin]: string[] = []
    beforeAll(async () => {
      fleet = await startPolicedFleet(store)
    })
    afterAll(() => fleet.stop())

    const send = (operation: string, body?: unknown, ifMatch?: string) =>
      ifMatch === undefined ? fleet.call(fleet.root, operation, body) : sendFrom(ifMatch, operation, body)
    async function sendFrom(ifMatch: string, operation: string, body?: unknown): Promise<Answer> {
      const [method = '', path = ''] = operation.split(' ')
      const response = await fetch(`${fleet.url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${fleet.root}`,
          'if-match': ifMatch,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) }
    }
    const codeOf = ({ status, body }: Answer) => [status, body['code']]
    const qualified = (key: string) => `domain:${domainId}/${key}`
    const create = (body: Readonly<Record<string, unknown>>) =>
      send(`POST /v1/domains/${domainId}/policies`, {
        slug: `s-${fleet.ids.next()}`,
        selector: '*',
        rules: [],
        ...body,
      })

    /** A Domain of its own, with three nodes, for each test. */
    async function arrange(): Promise<void> {
      domainId = await fleet.domain()
      for (const key of ['role', 'env']) await fleet.define(domainId, key)
      web = await fleet.labelledNode({ domainId }, { role: 'web', env: 'prod' })
      db = await fleet.labelledNode({ domainId }, { role: 'db', env: 'prod' })
      admin = await fleet.labelledNode({ domainId }, { role: 'admin' })
    }

    describe('CreatePolicy', () => {
      beforeAll(arrange)

      it('stores canonical selectors and the compiled rules, matches nodes, numbers groups and announces', async () => {
        const answer = await create({ slug: 'ssh', selector: 'env = prod', rules: [SSH], display_name: 'SSH' })
        expect(answer.status).toBe(201)
        const { id, revision_id } = answer.body
        expect(answer.headers.get('location')).toBe(`/v1/policies/${String(id)}`)
        expect(answer.headers.get('etag')).toBe(`"${String(revision_id)}"`)
        expect(answer.body).toEqual({
          id,
          domain_id: domainId,
          slug: 'ssh',
          display_name: 'SSH',
          selector: `${qualified('env')}=prod`,
          isolates: ['ingress'],
          rules: [{ ...SSH, peers: `${qualified('role')}=admin` }],
          tests: [],
          revision_id,
          revision: 1,
          fingerprint: expect.stringMatching(/^[\w+/]{43}=$/),
          matched_count: 2,
          created_at: '2026-03-01T08:00:00.000Z',
          updated_at: '2026-03-01T08:00:00.000Z',
        })
        expect(await fleet.stateOf(String(web))).toEqual({ policies: ['ssh'], groups: [] })
        expect(await fleet.stateOf(String(admin))).toEqual({ policies: [], groups: [`${qualified('role')}=admin`] })
        const stored = await fleet.db
          .selectFrom('policy_revisions')
          .select('rules')
          .where('id', '=', String(revision_id))
          .executeTakeFirst()
        expect(stored?.rules).toBe(
          '[{"action":"accept","cidrs":[],"direction":"ingress","except_cidrs":[],"except_groups":[],"groups":[1],"ports":[[22,22]],"protocol":"tcp"},{"action":"isolate","direction":"ingress"}]',
        )
        expect(await fleet.outbox(answer)).toEqual([
          {
            event: 'policy_group_changed',
            domain_id: domainId,
            aggregate: `domain:${domainId}`,
            payload: { group: 1, added: [admin], removed: [] },
          },
          {
            event: 'policy_revision_created',
            domain_id: domainId,
            aggregate: `policy:${String(id)}`,
            payload: { policy_id: id, revision_id, left_node_ids: [] },
          },
        ])
        expect(await fleet.audit(answer)).toEqual({
          relation: 'policy.create',
          object: `policy:${String(id)}`,
          outcome: 'granted',
          reason: 'granted',
          domainId,
        })
      })

      it('names everybody by group 0, which no node is in', async () => {
        const { body } = await create({ rules: [{ ...SSH, peers: '*' }] })
        const rows = await fleet.db
          .selectFrom('policy_revisions')
          .select('rules')
          .where('id', '=', String(body['revision_id']))
          .execute()
        expect(JSON.parse(rows[0]?.rules ?? '[]')[0]).toMatchObject({ groups: [0] })
      })

      it('refuses a taken slug, and the 257th policy of a Domain', async () => {
        expect(codeOf(await create({ slug: 'ssh' }))).toEqual([409, 'slug_conflict'])
        const full = await fleet.domain()
        await sql`
          insert into policies (id, domain_id, slug, revision_id, applied_revision_id, created_at, updated_at)
          select gen_random_uuid(), ${full}, 'full-' || number, gen_random_uuid(), gen_random_uuid(), now(), now()
          from generate_series(1, 256) as number`.execute(fleet.db)
        const body = { slug: 'one-more', selector: '*', rules: [] }
        expect(codeOf(await send(`POST /v1/domains/${full}/policies`, body))).toEqual([409, 'policy_limit_exceeded'])
      })

      it.each([
        [{ rules: [{ direction: 'ingress', protocol: 'tcp' }] }, '/rules/0/peers'],
        [{ rules: [{ ...SSH, cidrs: ['10.0.0.1/8'] }] }, '/rules/0/cidrs/0'],
        [{ rules: [SSH, { ...SSH, protocol: 'icmp' }] }, '/rules/1/ports'],
        [{ rules: [{ ...SSH, ports: ['70000'] }] }, '/rules/0/ports/0'],
        [{ tests: [{ from: '*', to: '*', protocol: 'icmp', port: 1, expect: 'denied' }] }, '/tests/0/port'],
        [{ rules: [{ ...SSH, action: 'deny' }] }, undefined],
      ])('refuses %j as invalid_policy, and names the member', async (members, pointer) => {
        const answer = await create(members)
        expect(codeOf(answer)).toEqual([400, 'invalid_policy'])
        if (pointer !== undefined) expect(answer.body['errors']).toEqual([{ pointer, detail: expect.any(String) }])
        expect(answer.body['fields']).toEqual([pointer?.split('/')[1] ?? 'rules'])
      })

      it('reports every error of every selector with its member and its place in bytes', async () => {
        const answer = await create({
          selector: 'role = "é",rol=web',
          rules: [SSH, { ...SSH, except_peers: 'role in (' }],
          tests: [{ from: '', to: '*', protocol: 'tcp', expect: 'allowed' }],
        })
        expect(codeOf(answer)).toEqual([400, 'invalid_selector'])
        expect(answer.body['errors']).toMatchObject([
          { pointer: '/selector', offset: 12, length: 3, code: 'unknown_key', expected: ['role'] },
          { pointer: '/rules/1/except_peers', offset: 9, length: 0, code: 'unexpected_token' },
          { pointer: '/tests/0/from', offset: 0, length: 0, code: 'empty' },
        ])
        expect(await countOf('policy_revisions', 'rol=web')).toBe(0)
      })

      it('sees no Definition of another Domain', async () => {
        const other = await fleet.domain()
        await fleet.define(other, 'secret')
        for (const selector of ['secret', `domain:${other}/secret`])
          expect(codeOf(await create({ selector }))).toEqual([400, 'invalid_selector'])
      })

      it('holds each Definition that the revision in force names', async () => {
        const { body } = await create({
          selector: 'env',
          tests: [{ from: 'role', to: '*', protocol: 'tcp', expect: 'allowed' }],
        })
        const held = async () =>
          (
            await fleet.db
              .selectFrom('selector_definitions')
              .innerJoin('label_definitions', 'label_definitions.id', 'definition_id')
              .select('local_key')
              .where('holder', '=', `policy:${String(body['id'])}`)
              .orderBy('local_key')
              .execute()
          ).map(({ local_key }) => local_key)
        expect(await held()).toEqual(['env', 'role'])
        await send(`PATCH /v1/policies/${String(body['id'])}`, { tests: [] })
        expect(await held()).toEqual(['env'])
        await send(`DELETE /v1/policies/${String(body['id'])}`)
        expect(await held()).toEqual([])
      })

      it('is refused to who may only read the Domain', async () => {
        const viewer = await fleet.holder(domainId, 'viewer', `domain:${domainId}`)
        const body = { slug: 'mine', selector: '*', rules: [] }
        expect(codeOf(await fleet.call(viewer, `POST /v1/domains/${domainId}/policies`, body))).toEqual([
          403,
          'permission_denied',
        ])
      })
    })

    async function countOf(table: 'policy_revisions' | 'policies', text = ''): Promise<number> {
      const { rows } = await sql<{ rows: number }>`
        select count(*)::int as rows from ${sql.table(table)} as stored where stored::text like ${`%${text}%`}`.execute(
        fleet.db,
      )
      return rows[0]?.rows ?? 0
    }

    describe('a change', () => {
      beforeAll(arrange)

      it('makes a revision of its own, tells those that match and ends it for those that left', async () => {
        const policy = await fleet.policy(domainId, { selector: 'env=prod', rules: [SSH] })
        const before = await revisionsOf([String(web), String(db), String(admin)])
        const answer = await send(`PATCH /v1/policies/${policy.id}`, { selector: 'role in (web, admin)' })
        expect(answer.status).toBe(200)
        expect(answer.body).toMatchObject({ revision: 2, matched_count: 2, fingerprint: policy['fingerprint'] })
        expect(await fleet.outbox(answer)).toEqual([
          {
            event: 'policy_revision_created',
            domain_id: domainId,
            aggregate: `policy:${policy.id}`,
            payload: {
              policy_id: policy.id,
              revision_id: answer.body['revision_id'],
              former_revision_id: policy['revision_id'],
              left_node_ids: [db],
            },
          },
        ])
        const after = await revisionsOf([String(web), String(db), String(admin)])
        expect(after.map((revision, index) => revision - (before[index] ?? 0))).toEqual([1, 1, 1])
        await send(`DELETE /v1/policies/${policy.id}`)
      })

      it('of the name alone is a revision that no node is told of', async () => {
        const policy = await fleet.policy(domainId, { rules: [SSH] })
        const before = await revisionsOf([String(web)])
        const answer = await send(`PATCH /v1/policies/${policy.id}`, { display_name: 'Renamed' })
        expect(answer.body).toMatchObject({ revision: 2, display_name: 'Renamed' })
        expect(await fleet.outbox(answer)).toEqual([])
        expect(await revisionsOf([String(web)])).toEqual(before)
        const { applied_revision_id } = await fleet.db
          .selectFrom('policies')
          .select('applied_revision_id')
          .where('id', '=', policy.id)
          .executeTakeFirstOrThrow()
        expect(applied_revision_id).toBe(policy['revision_id'])
        const deleted = await send(`DELETE /v1/policies/${policy.id}`)
        expect((await fleet.outbox(deleted)).at(-1)?.payload).toEqual({
          policy_id: policy.id,
          revision_id: policy['revision_id'],
          node_ids: [web, db, admin].map(String).toSorted(),
        })
      })

      it('gives no group a number for the second time', async () => {
        const one = await fleet.policy(domainId, { rules: [SSH] })
        const first = await lastGroup()
        await send(`DELETE /v1/policies/${one.id}`)
        expect(await fleet.stateOf(String(admin))).toMatchObject({ groups: [] })
        const two = await fleet.policy(domainId, { rules: [SSH] })
        expect(await lastGroup()).toBe(first + 1)
        expect(two['fingerprint']).not.toBe(one['fingerprint'])
        const three = await fleet.policy(domainId, { rules: [SSH] })
        expect([await lastGroup(), three['fingerprint']]).toEqual([first + 1, two['fingerprint']])
        for (const { id } of [two, three]) await send(`DELETE /v1/policies/${id}`)
      })

      async function lastGroup(): Promise<number> {
        const row = await fleet.db
          .selectFrom('domain_peers')
          .select('last_group')
          .where('domain_id', '=', domainId)
          .executeTakeFirstOrThrow()
        return row.last_group
      }

      it('keeps the default of isolates open: it follows the rules', async () => {
        const policy = await fleet.policy(domainId, { rules: [SSH] })
        const patched = await send(`PATCH /v1/policies/${policy.id}`, { rules: [{ ...SSH, direction: 'egress' }] })
        expect(patched.body['isolates']).toEqual(['egress'])
        const closed = await send(`PATCH /v1/policies/${policy.id}`, { isolates: ['ingress', 'ingress'], rules: [] })
        expect([closed.body['isolates'], closed.body['rules']]).toEqual([['ingress'], []])
        await send(`DELETE /v1/policies/${policy.id}`)
      })
    })

    async function revisionsOf(nodeIds: readonly string[]): Promise<number[]> {
      const rows = await fleet.db
        .selectFrom('node_heartbeats')
        .select(['node_id', 'node_revision'])
        .where('node_id', 'in', nodeIds)
        .execute()
      return nodeIds.map((id) => Number(rows.find(({ node_id }) => node_id === id)?.node_revision))
    }

    describe('If-Match', () => {
      beforeAll(arrange)

      it('lets one of two editors through, and tells the other', async () => {
        const policy = await fleet.policy(domainId)
        const seen = `"${String(policy['revision_id'])}"`
        const path = `/v1/policies/${policy.id}`
        const answers = await Promise.all(
          ['One', 'Two'].map((display_name) => send(`PATCH ${path}`, { display_name }, seen)),
        )
        expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412])
        const stale = answers.find(({ status }) => status === 412)
        expect(stale?.body['code']).toBe('policy_stale')
        expect((await send(`GET ${path}`)).body['revision']).toBe(2)
        expect(codeOf(await send(`POST ${path}/rollback`, { revision_id: policy['revision_id'] }, seen))).toEqual([
          412,
          'policy_stale',
        ])
        expect(codeOf(await send(`DELETE ${path}`, undefined, `W/${seen}`))).toEqual([412, 'policy_stale'])
        expect((await send(`PATCH ${path}`, { display_name: 'Three' }, '*')).status).toBe(200)
        expect((await send(`PATCH ${path}`, { display_name: 'Four' })).status).toBe(200)
        const etag = (await send(`GET ${path}`)).headers.get('etag') ?? ''
        expect((await send(`DELETE ${path}`, undefined, `"x", ${etag}`)).status).toBe(204)
      })
    })

    describe('revisions', () => {
      beforeAll(arrange)

      it('are listed newest first, and one of them is put in force again', async () => {
        const policy = await fleet.policy(domainId, { slug: 'again', selector: 'env', rules: [SSH] })
        await send(`PATCH /v1/policies/${policy.id}`, { selector: '*', rules: [], isolates: ['egress'] })
        const rolled = await send(`POST /v1/policies/${policy.id}/rollback`, { revision_id: policy['revision_id'] })
        expect(rolled.status).toBe(200)
        expect(rolled.body).toMatchObject({
          revision: 3,
          selector: policy['selector'],
          rules: policy['rules'],
          matched_count: 2,
        })
        const { body } = await send(`GET /v1/policies/${policy.id}/revisions`)
        const items = body['items'] as { revision: number; selector: string; created_by: string }[]
        expect(items.map(({ revision, selector }) => [revision, selector])).toEqual([
          [3, qualified('env')],
          [2, '*'],
          [1, qualified('env')],
        ])
        expect(items[0]?.created_by).toBe(fleet.root)
      })

      it('of another policy, and ones that nobody made, are not found', async () => {
        const [one, two] = [await fleet.policy(domainId), await fleet.policy(domainId)]
        for (const revision_id of [two['revision_id'], NOWHERE])
          expect(codeOf(await send(`POST /v1/policies/${one.id}/rollback`, { revision_id }))).toEqual([
            404,
            'policy_revision_not_found',
          ])
        expect(codeOf(await send(`POST /v1/policies/${one.id}/rollback`, { revision_id: 'x' }))).toEqual([
          400,
          'invalid_revision_id',
        ])
      })
    })

    describe('tests of policies', () => {
      beforeAll(arrange)
      const denied = { from: 'role=web', to: 'role=db', protocol: 'tcp', port: 5432, expect: 'denied' }

      it('refuse a write after which one does not hold, and nothing of the write is kept', async () => {
        await fleet.policy(domainId, { slug: 'closed', selector: 'role=db', isolates: ['ingress'], tests: [denied] })
        const rows = () => rowsOfPolicies(fleet.db)
        const before = await rows()
        const rule = { direction: 'ingress', peers: 'role=web', protocol: 'tcp', ports: ['5000-6000'] }
        const answer = await create({ slug: 'opens', selector: 'role=db', rules: [rule] })
        expect(codeOf(answer)).toEqual([422, 'policy_test_failed'])
        expect(answer.body['failures']).toEqual([
          {
            policy_id: expect.any(String),
            policy: 'closed',
            test: 0,
            from_node_id: web,
            from: await fleet.nodeName(web),
            to_node_id: db,
            to: await fleet.nodeName(db),
            expect: 'denied',
          },
        ])
        expect(await rows()).toEqual(before)
        const closed = answer.body['failures'] as { policy_id: string }[]
        const id = String(closed[0]?.policy_id)
        expect(codeOf(await send(`PATCH /v1/policies/${id}`, { isolates: [] }))).toEqual([422, 'policy_test_failed'])
        expect(await rows()).toEqual(before)
        expect(
          (await create({ slug: 'narrow', selector: 'role=db', rules: [{ ...rule, ports: ['22'] }] })).status,
        ).toBe(201)
      })

      it('are run when a policy is deleted, or rolled back', async () => {
        const [open, shut] = [
          { from: 'role=admin', to: 'role=web', protocol: 'icmp', expect: 'allowed' },
          { from: 'role=admin', to: 'role=web', protocol: 'icmp', expect: 'denied' },
        ]
        const guard = await fleet.policy(domainId, { tests: [open] })
        const wall = await fleet.policy(domainId, { selector: 'role=none', isolates: ['ingress'] })
        expect(codeOf(await send(`PATCH /v1/policies/${wall.id}`, { selector: 'env' }))).toEqual([
          422,
          'policy_test_failed',
        ])
        expect((await send(`PATCH /v1/policies/${guard.id}`, { tests: [] })).status).toBe(200)
        expect((await send(`PATCH /v1/policies/${wall.id}`, { selector: 'env' })).status).toBe(200)
        expect((await send(`PATCH /v1/policies/${guard.id}`, { tests: [shut] })).status).toBe(200)
        expect(codeOf(await send(`DELETE /v1/policies/${wall.id}`))).toEqual([422, 'policy_test_failed'])
        const back = { revision_id: wall['revision_id'] }
        expect(codeOf(await send(`POST /v1/policies/${wall.id}/rollback`, back))).toEqual([422, 'policy_test_failed'])
        expect((await send(`GET /v1/policies/${wall.id}`)).body['revision']).toBe(2)
        for (const { id } of [guard, wall]) await send(`DELETE /v1/policies/${id}`)
      })

      it('whose selector matches nothing are reported and do not fail', async () => {
        const none = { from: 'role=nobody', to: '*', protocol: 'tcp', expect: 'denied' }
        const { id, ...policy } = await fleet.policy(domainId, { tests: [none] })
        expect(policy['vacuous_tests']).toEqual([{ policy_id: id, test: 0, selector: `${qualified('role')}=nobody` }])
        await send(`DELETE /v1/policies/${id}`)
      })
    })

    describe('who may not see the Domain', () => {
      beforeAll(arrange)

      it('cannot tell a policy from an id that does not exist', async () => {
        const policy = await fleet.policy(domainId)
        const stranger = await fleet.principal(await fleet.domain())
        const viewer = await fleet.holder(domainId, 'viewer', `domain:${domainId}`)
        const calls = (id: string, as: string) =>
          Promise.all(
            (
              [
                [`GET /v1/policies/${id}`],
                [`PATCH /v1/policies/${id}`, { display_name: 'Mine' }],
                [`DELETE /v1/policies/${id}`],
                [`GET /v1/policies/${id}/revisions`],
                [`POST /v1/policies/${id}/rollback`, { revision_id: NOWHERE }],
              ] as const
            ).map(async ([operation, body]) => {
              const { status, body: answer } = await fleet.call(as, operation, body)
              const { correlation_id: _, instance: __, ...rest } = answer
              return [status, rest]
            }),
          )
        const unknown = await calls(NOWHERE, stranger)
        expect(unknown.map(([status]) => status)).toEqual([404, 404, 404, 404, 404])
        expect(await calls(policy.id, stranger)).toEqual(unknown)
        expect((await calls(policy.id, viewer)).map(([status]) => status)).toEqual([200, 403, 403, 200, 403])
      })
    })

    it('go with their Domain, and hold no Definition of the platform any more', async () => {
      const empty = await fleet.domain()
      const policy = await fleet.policy(empty, { selector: 'platform/env', rules: [{ ...SSH, peers: 'env=prod' }] })
      const held = () =>
        fleet.db
          .selectFrom('selector_definitions')
          .select('holder')
          .where('holder', '=', `policy:${policy.id}`)
          .execute()
      expect(await held()).toHaveLength(1)
      expect((await send(`DELETE /v1/domains/${empty}`)).status).toBe(204)
      expect(await held()).toEqual([])
      expect(await fleet.db.selectFrom('policies').select('id').where('domain_id', '=', empty).execute()).toEqual([])
    })
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freshPublicKey, startFleet, type Fleet } from '../support/fleet/fleet.ts'
import { STORES } from '../support/datastores/stores.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'

describe.each(STORES)('Join tokens on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: Fleet
    let domain: string
    beforeAll(async () => {
      fleet = await startFleet(store)
    })
    beforeEach(async () => {
      domain = await fleet.domain()
    })
    afterAll(() => fleet.stop())

    const path = () => `/v1/domains/${domain}/join-tokens`
    const create = (body: object, as = fleet.root) => fleet.call(as, `POST ${path()}`, body)
    const rows = () => fleet.db.selectFrom('join_tokens').selectAll().where('domain_id', '=', domain).execute()

    describe('CreateJoinToken', () => {
      it('makes a token for one node and one hour, shows it once and keeps its prefix and fingerprint', async () => {
        const answer = await create({})
        expect(answer.status).toBe(201)
        const { id, token, ...shown } = answer.body
        const hex = String(id).replaceAll('-', '')
        expect(token).toMatch(new RegExp(`^jtk_test_${hex}_[0-9A-Za-z]{49}$`))
        expect(shown).toEqual({
          domain_id: domain,
          project_id: null,
          node_id: null,
          prefix: `jtk_test_${hex}`,
          labels: {},
          ephemeral: false,
          max_uses: 1,
          uses: 0,
          created_by: fleet.root,
          created_at: '2026-03-01T08:00:00.000Z',
          expires_at: '2026-03-01T09:00:00.000Z',
          revoked_at: null,
        })
        const [row] = await rows()
        expect(row?.fingerprint).toEqual(fleet.keyring.mac('fingerprint', String(token)).mac)
        expect(JSON.stringify(row)).not.toContain(String(token).slice(-49))
        expect(await fleet.audit(answer)).toEqual({
          relation: 'join_token.create',
          object: `domain:${domain}`,
          outcome: 'granted',
          reason: 'granted',
          domainId: domain,
        })
      })

      it('takes lifetime, uses, Project, labels and ephemerality', async () => {
        const project = await fleet.project(domain)
        const labels = { 'team/role': 'edge', zone: '' }
        const answer = await create({
          ttl_seconds: 2_592_000,
          max_uses: 1_000_000,
          project_id: project,
          labels,
          ephemeral: true,
        })
        expect(answer).toMatchObject({
          status: 201,
          body: {
            max_uses: 1_000_000,
            project_id: project,
            labels,
            ephemeral: true,
            expires_at: '2026-03-31T08:00:00.000Z',
          },
        })
      })

      it.each([
        ['a lifetime under a minute', { ttl_seconds: 59 }],
        ['a lifetime over 30 days', { ttl_seconds: 2_592_001 }],
        ['no uses', { max_uses: 0 }],
        ['more than a million uses', { max_uses: 1_000_001 }],
        ['65 labels', { labels: Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`l${n}`, ''])) }],
        ['a label that is no name', { labels: { 'A b': '' } }],
        ['an unknown member', { uses: 3 }],
        ['a node and more than one use', { node_id: NOWHERE, max_uses: 2 }],
        ['a node and a Project', { node_id: NOWHERE, project_id: NOWHERE }],
        ['a node and labels', { node_id: NOWHERE, labels: {} }],
        ['a node and ephemerality', { node_id: NOWHERE, ephemeral: false }],
      ])('refuses %s', async (_what, body) => {
        expect(await create(body)).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
        expect(await rows()).toEqual([])
      })

      it.each(['of another Domain', 'that does not exist'])('refuses a Project %s', async (which) => {
        const project = which === 'of another Domain' ? await fleet.project(await fleet.domain()) : NOWHERE
        expect(await create({ project_id: project })).toMatchObject({
          status: 404,
          body: { code: 'project_not_found' },
        })
        expect(await rows()).toEqual([])
      })

      it('for a node needs node-operate on it, and says nothing of nodes that there are not', async () => {
        const { node_id } = await fleet.enrol(domain)
        const admin = await fleet.holder(domain, 'admin', `domain:${domain}`)
        expect(await create({ node_id }, admin)).toMatchObject({ status: 201, body: { node_id, max_uses: 1 } })
        const elsewhere = await fleet.enrol(await fleet.domain())
        for (const id of [elsewhere.node_id, NOWHERE]) {
          const answer = await create({ node_id: id }, admin)
          expect(answer).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
          expect(await fleet.audit(answer)).toMatchObject({
            relation: 'join_token.create',
            outcome: 'permission_denied',
          })
        }
      })

      it('for a node of another Domain is refused to those who may operate it', async () => {
        const elsewhere = await fleet.enrol(await fleet.domain())
        const answer = await create({ node_id: elsewhere.node_id })
        expect(answer).toMatchObject({ status: 404, body: { code: 'node_not_found' } })
      })

      it('needs manage on the Domain', async () => {
        const operator = await fleet.holder(domain, 'operator', `domain:${domain}`)
        const answer = await create({}, operator)
        expect(answer).toMatchObject({
          status: 403,
          body: { missing_relation: { object: `domain:${domain}`, relation: 'manage', subject: operator } },
        })
        expect(await rows()).toEqual([])
      })
    })

    describe('ListJoinTokens', () => {
      it('lists the tokens of the Domain alone, and none of their secrets', async () => {
        const [first, second] = [await fleet.token(domain), await fleet.token(domain)]
        await fleet.token(await fleet.domain())
        const { status, body } = await fleet.call(fleet.root, `GET ${path()}`)
        expect([status, body]).toMatchObject([200, { items: [{ id: second.id }, { id: first.id }] }])
        expect(JSON.stringify(body)).not.toMatch(/"(token|fingerprint)/)
      })

      it('needs manage on the Domain', async () => {
        const viewer = await fleet.holder(domain, 'viewer', `domain:${domain}`)
        expect(await fleet.call(viewer, `GET ${path()}`)).toMatchObject({ status: 403 })
      })
    })

    describe('DeleteJoinToken', () => {
      const revoke = (id: string, as = fleet.root) => fleet.call(as, `DELETE ${path()}/${id}`)

      it('revokes at once, keeps the first instant, and is content to be repeated', async () => {
        const { id, token } = await fleet.token(domain, { max_uses: 5 })
        expect(await fleet.register(token)).toMatchObject({ status: 201 })
        const answer = await revoke(id)
        expect(answer.status).toBe(204)
        expect(await fleet.register(token)).toMatchObject({ status: 401, body: { code: 'invalid_join_token' } })
        fleet.wait(1_000)
        expect(await revoke(id)).toMatchObject({ status: 204 })
        expect(await rows()).toMatchObject([{ id, revoked_at: new Date('2026-03-01T08:00:00.000Z'), uses: 1 }])
        expect(await fleet.audit(answer)).toMatchObject({ relation: 'join_token.revoke', object: `domain:${domain}` })
        fleet.wait(-1_000)
      })

      it('knows no token of another Domain, and none that does not exist', async () => {
        const elsewhere = await fleet.token(await fleet.domain())
        for (const id of [elsewhere.id, NOWHERE]) {
          expect(await revoke(id)).toMatchObject({ status: 404, body: { code: 'join_token_not_found' } })
        }
        expect(await fleet.register(elsewhere.token)).toMatchObject({ status: 201 })
      })

      it.each(['0', '00000000-0000-0000-0000-000000000000'])('refuses %o as an id', async (id) => {
        expect(await revoke(id)).toMatchObject({ status: 400, body: { code: 'invalid_join_token_id' } })
      })
    })

    describe('A join token as a credential', () => {
      it('is refused once it has expired, when it was altered, and where it is not asked for', async () => {
        const { token } = await fleet.token(domain, { ttl_seconds: 60 })
        const last = token.at(-1) === 'a' ? 'b' : 'a'
        expect(await fleet.register(token.slice(0, -1) + last)).toMatchObject({
          status: 401,
          body: { code: 'invalid_join_token' },
        })
        expect(await fleet.call(token, 'GET /v1/nodes')).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
        fleet.wait(60_000)
        expect(await fleet.register(token)).toMatchObject({ status: 401, body: { code: 'invalid_join_token' } })
        fleet.wait(-60_000)
        expect(await fleet.register(token)).toMatchObject({ status: 201 })
      })

      it('is asked for by registration alone: another credential does not register', async () => {
        const body = { name: 'n', kind: 'vm', public_key: freshPublicKey() }
        expect(await fleet.call(fleet.root, 'POST /v1/nodes/register', body)).toMatchObject({
          status: 401,
          body: { code: 'invalid_join_token' },
        })
      })
    })
  })
})

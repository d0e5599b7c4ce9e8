import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startAccess, type Access, type Answer, type Person } from '../support/server/access.ts'
import { START_MS } from '../support/server/test-backend.ts'
import { STORES, useDatastore } from '../support/datastores/stores.ts'

const UNKNOWN = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const publicJwk = pair.publicKey.export({ format: 'jwk' })
const privateJwk = pair.privateKey.export({ format: 'jwk' })

describe.each(STORES)('identities on $name', (store) => {
  describe.skipIf(store.missing)('', () => {
    const inUse = useDatastore(store)
    let access: Access
    let domainId: string
    let admin: Person
    beforeAll(async () => {
      access = await startAccess(inUse.current())
      domainId = await access.domain('acme')
      admin = await access.person(domainId)
      await access.grant(admin.subject, 'admin', `domain:${domainId}`, domainId)
    })
    afterAll(() => access.stop())

    const create = (body: object, into = domainId) =>
      access.call(admin.token, `POST /v1/domains/${into}/service-identities`, body)
    const show = (person: Person, id: string, of = domainId) =>
      access.call(person.token, `GET /v1/domains/${of}/identities/${id}`)
    const listing = (person: Person, query = '', of = domainId) =>
      access.call(person.token, `GET /v1/domains/${of}/identities${query}`)
    const idsOf = (answer: Answer) => answer.body.items.map(({ id }) => id)

    it('creates a service identity; its subject is sealed and never echoed', async () => {
      const subject = 'deploy-robot@ci'
      const created = await create({
        display_name: 'Deploy robot',
        subject,
        jwks: { keys: [publicJwk] },
        spiffe_id: 'spiffe://acme.example/deploy',
      })
      expect(created.status).toBe(201)
      expect(created.body).toEqual({
        id: expect.any(String),
        kind: 'service-identity',
        domain_id: domainId,
        display_name: 'Deploy robot',
        external_subject_pseudonym: expect.stringMatching(/^[0-9a-f]{64}$/),
        last_sign_in_at: null,
        created_at: '2026-03-01T08:00:00.000Z',
        disabled: false,
      })
      const { id } = created.body
      const stored = await access.db.selectFrom('principals').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
      expect(stored.jwks).toEqual({ keys: [publicJwk] })
      expect(stored.spiffe_id).toBe('spiffe://acme.example/deploy')
      expect(stored.subject_sealed.includes(subject)).toBe(false)
      expect(await access.outbox(created)).toEqual([
        {
          event: 'ServiceIdentityProvisioned',
          aggregate: `serviceaccount:${id}`,
          domain_id: domainId,
          payload: { service_identity_id: id, display_name: 'Deploy robot' },
        },
      ])
      expect(await access.audited(created)).toMatchObject([
        { relation: 'service_identity.create', object: `domain:${domainId}`, outcome: 'granted' },
      ])
      const edge = await access.call(admin.token, 'POST /v1/authz/check', {
        subject: admin.subject,
        relation: 'manage',
        resource: `serviceaccount:${id}`,
      })
      expect(edge.body).toMatchObject({ decision: 'allowed' })
    })

    it('refuses a subject that the Domain has; another Domain may have it, under an unrelated pseudonym', async () => {
      const other = await access.domain('other')
      await access.grant(admin.subject, 'admin', `domain:${other}`, other)
      const first = await create({ display_name: 'A', subject: 'twin' })
      const again = await create({ display_name: 'B', subject: 'twin' })
      expect([again.status, again.body.code]).toEqual([409, 'service_identity_already_exists'])
      expect(await access.outbox(again)).toEqual([])
      const there = await create({ display_name: 'C', subject: 'twin' }, other)
      expect(there.status).toBe(201)
      expect(there.body.external_subject_pseudonym).not.toBe(first.body.external_subject_pseudonym)
    })

    it('lets one of many creations of the same subject at once win', async () => {
      const answers = await Promise.all(Array.from({ length: 6 }, () => create({ display_name: 'R', subject: 'race' })))
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409, 409, 409])
    })

    it.each([
      ['a private key', { jwks: { keys: [privateJwk] } }],
      ['a symmetric key', { jwks: { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] } }],
      ['a key that is none', { jwks: { keys: [{ kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' }] } }],
      ['no key', { jwks: { keys: [] } }],
      ['a key for encryption', { jwks: { keys: [{ ...publicJwk, use: 'enc' }] } }],
      ['an unknown member', { colour: 'red' }],
      ['a SPIFFE id that is none', { spiffe_id: 'https://acme.example' }],
      ['a blank name', { display_name: ' ' }],
      ['an empty subject', { subject: '' }],
      ['a body over the cap', { display_name: 'x'.repeat(9000) }],
    ])('refuses %s', async (_what, members) => {
      const answer = await create({ display_name: 'Robot', subject: 'refused', ...members })
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid_service_identity'])
      const rows = await access.db.selectFrom('principals').select('id').where('display_name', '=', 'Robot').execute()
      expect(rows).toEqual([])
    })

    describe('the handle of an identity', () => {
      const find = (person: Person, handle: string) => listing(person, `?handle=${encodeURIComponent(handle)}`)

      it('finds a service identity by its exact subject, for everyone who may read it, without showing it', async () => {
        const viewer = await access.person(domainId)
        await access.grant(viewer.subject, 'viewer', `domain:${domainId}`, domainId)
        const created = await create({ display_name: 'Handled', subject: 'handled/build' })
        const found = await find(viewer, 'handled/build')
        expect(idsOf(found)).toEqual([created.body.id])
        expect(found.body.items[0]).not.toHaveProperty('handle')
        for (const other of ['handled', 'Handled', 'HANDLED/BUILD', created.body.external_subject_pseudonym])
          expect(idsOf(await find(viewer, other))).toEqual([])
      })

      it('is shown in lists that ask for it, to auditors of the Domain alone', async () => {
        await create({ display_name: 'Shown', subject: 'shown' })
        const auditor = await access.person(domainId)
        await access.grant(auditor.subject, 'auditor', `domain:${domainId}`, domainId)
        const handles = async (person: Person, query: string) =>
          (await listing(person, query)).body.items.flatMap((item) => (item as { handle?: string }).handle ?? [])
        expect(await handles(auditor, '?reveal=true')).toContain('shown')
        expect(await handles(auditor, '')).toEqual([])
        expect(await handles(admin, '?reveal=true')).toEqual([])
        const revealed = await listing(auditor, '?reveal=true')
        expect(await access.audited(revealed)).toMatchObject([{ context: { pseudonym_revealed: true } }])
      })
    })

    describe('the life of a service identity', () => {
      const path = (id: string) => `/v1/domains/${domainId}/service-identities/${id}`
      const patch = (id: string, body: object) => access.call(admin.token, `PATCH ${path(id)}`, body)
      const remove = (id: string) => access.call(admin.token, `DELETE ${path(id)}`)
      const whoami = (token: string) => access.call(token, 'GET /v1/auth/whoami')

      it('changes its name, keys and SPIFFE ID, and announces that', async () => {
        const { id } = (await create({ display_name: 'Old', subject: 'changing', jwks: { keys: [publicJwk] } })).body
        const body = { display_name: 'New', jwks: null, spiffe_id: 'spiffe://acme.example/changing' }
        const changed = await patch(id, body)
        expect(changed).toMatchObject({ status: 200, body: { id, display_name: 'New', disabled: false } })
        const stored = await access.db.selectFrom('principals').selectAll().where('id', '=', id).executeTakeFirst()
        expect(stored).toMatchObject({ jwks: null, spiffe_id: body.spiffe_id })
        expect(await access.outbox(changed)).toMatchObject([
          { event: 'ServiceIdentityUpdated', aggregate: `serviceaccount:${id}` },
        ])
        expect(await access.audited(changed)).toMatchObject([
          { relation: 'service_identity.update', object: `serviceaccount:${id}`, outcome: 'granted' },
        ])
        const other = (await create({ display_name: 'O', subject: 'changing-too' })).body.id
        const taken = await patch(other, { spiffe_id: body.spiffe_id })
        expect([taken.status, taken.body.code]).toEqual([409, 'service_identity_already_exists'])
      })

      it.each([
        ['another subject', { subject: 'x' }, 'invalid_service_identity'],
        ['a private key', { jwks: { keys: [privateJwk] } }, 'invalid_service_identity'],
      ])('refuses a change of %s', async (_what, body, code) => {
        const person = await access.person(domainId)
        const answer = await patch(person.id, body)
        expect([answer.status, answer.body.code]).toEqual([400, code])
      })

      it('refuses the tokens of a disabled one at once, and takes them again when it is enabled', async () => {
        const person = await access.person(domainId)
        expect((await whoami(person.token)).status).toBe(200)
        expect(await patch(person.id, { disabled: true })).toMatchObject({ status: 200, body: { disabled: true } })
        const refused = await whoami(person.token)
        expect([refused.status, refused.body.code]).toEqual([401, 'unauthenticated'])
        const listed = (await listing(admin)).body.items.find(({ id }) => id === person.id)
        expect(listed).toMatchObject({ disabled: true })
        await patch(person.id, { disabled: false })
        access.clock.nowMs += 1001
        expect((await whoami(person.token)).status).toBe(200)
        access.clock.nowMs = START_MS
      })

      it('goes with its tokens, roles and memberships', async () => {
        const person = await access.person(domainId)
        await access.grant(person.subject, 'operator', `domain:${domainId}`, domainId)
        expect((await whoami(person.token)).status).toBe(200)
        const removed = await remove(person.id)
        expect(removed.status).toBe(204)
        expect((await whoami(person.token)).status).toBe(401)
        const left = await access.db
          .selectFrom('relation_tuples')
          .select('id')
          .where((row) => row.or([row('subject_id', '=', person.id), row('resource_id', '=', person.id)]))
          .where('state', '<>', 'revoking')
          .execute()
        expect(left).toEqual([])
        const tokens = await access.db.selectFrom('api_tokens').select('id').where('owner_id', '=', person.id).execute()
        expect(tokens).toEqual([])
        expect(await access.outbox(removed)).toMatchObject([
          { event: 'ServiceIdentityDeleted', aggregate: `serviceaccount:${person.id}` },
        ])
        expect(await access.audited(removed)).toMatchObject([
          { relation: 'service_identity.delete', object: `serviceaccount:${person.id}`, context: { count: 1 } },
        ])
      })

      it('gives its subject free', async () => {
        const { id } = (await create({ display_name: 'A', subject: 'again' })).body
        expect((await remove(id)).status).toBe(204)
        expect((await create({ display_name: 'B', subject: 'again' })).status).toBe(201)
      })

      it('is neither deleted nor disabled while it is the last who administers the platform', async () => {
        const [root, second] = [await access.person(domainId), await access.person(domainId)]
        await access.grant(root.subject, 'admin', 'platform:main', null)
        for (const answer of [await remove(root.id), await patch(root.id, { disabled: true })])
          expect([answer.status, answer.body.code]).toEqual([409, 'last_platform_admin'])
        await access.grant(second.subject, 'admin', 'platform:main', null)
        expect((await patch(second.id, { disabled: true })).status).toBe(200)
        expect((await remove(root.id)).body.code).toBe('last_platform_admin')
        await patch(second.id, { disabled: false })
        expect((await remove(root.id)).status).toBe(204)
      })

      it('is not another Domain’s, and no user', async () => {
        const elsewhere = await access.person(await access.domain('far-away'))
        const user = await access.person(domainId, 'user')
        for (const id of [elsewhere.id, user.id, UNKNOWN])
          expect((await remove(id)).body.code).toBe('identity_not_found')
      })
    })

    it('takes manage on the Domain to create', async () => {
      const caller = await access.person(domainId)
      const path = `POST /v1/domains/${domainId}/service-identities`
      const answer = await access.call(caller.token, path, { display_name: 'X', subject: 'x' })
      expect(answer.status).toBe(403)
      expect(answer.body.missing_relation).toEqual({
        object: `domain:${domainId}`,
        relation: 'manage',
        subject: caller.subject,
      })
    })

    it('lists newest first in pages, by kind where asked, each row by its own read', async () => {
      const place = await access.domain('listed')
      const viewer = await access.person(place)
      await access.grant(viewer.subject, 'viewer', `domain:${place}`, place)
      access.clock.nowMs += 1000
      const user = await access.person(place, 'user')
      const robot = await access.person(place)
      access.clock.nowMs = START_MS
      const all = await listing(viewer, '', place)
      expect(idsOf(all)).toEqual([robot.id, user.id, viewer.id])
      expect(all.body.next_cursor).toBeNull()
      expect(idsOf(await listing(viewer, '?kind=user', place))).toEqual([user.id])

      const first = await listing(viewer, '?limit=2', place)
      expect(idsOf(first)).toEqual([robot.id, user.id])
      const rest = await listing(viewer, `?limit=2&cursor=${first.body.next_cursor}`, place)
      expect(idsOf(rest)).toEqual([viewer.id])
      expect(rest.body.next_cursor).toBeNull()
      expect(await access.audited(first)).toMatchObject([
        { relation: 'identity.list', object: `domain:${place}`, context: { item_count: 2, kind: 'all' } },
      ])
      const byKind = await listing(viewer, '?kind=user', place)
      expect(await access.audited(byKind)).toMatchObject([{ context: { item_count: 1, kind: 'user' } }])
    })

    it.each([
      ['?kind=robot', 'invalid_kind'],
      ['?limit=0', 'invalid_limit'],
      ['?limit=201', 'invalid_limit'],
      ['?cursor=nonsense', 'invalid_cursor'],
    ])('refuses the list %s', async (query, code) => {
      const answer = await listing(admin, query)
      expect([answer.status, answer.body.code]).toEqual([400, code])
    })

    it('shows the external subject to auditors alone, and says so in the audit row', async () => {
      const auditor = await access.person(domainId)
      await access.grant(auditor.subject, 'auditor', `domain:${domainId}`, domainId)
      const user = await access.person(domainId, 'user')
      await access.db.updateTable('principals').set({ email: 'u@acme.example' }).where('id', '=', user.id).execute()

      const plain = await show(admin, user.id)
      expect(plain.status).toBe(200)
      expect(plain.body).not.toHaveProperty('external_subject')
      expect(plain.body).not.toHaveProperty('email')
      expect(plain.body.updated_at).toBe('2026-03-01T08:00:00.000Z')
      expect(await access.audited(plain)).toMatchObject([
        { relation: 'identity.read', outcome: 'granted', context: { pseudonym_revealed: false } },
      ])

      const revealed = await show(auditor, user.id)
      expect(revealed.body).toMatchObject({ external_subject: `name-of-${user.id}`, email: 'u@acme.example' })
      expect(await access.audited(revealed)).toMatchObject([{ context: { pseudonym_revealed: true } }])
    })

    it('never shows an address of a service identity', async () => {
      const auditor = await access.person(domainId)
      await access.grant(auditor.subject, 'auditor', `domain:${domainId}`, domainId)
      await access.db.updateTable('principals').set({ email: 'x@acme.example' }).where('id', '=', admin.id).execute()
      const revealed = await show(auditor, admin.id)
      expect(revealed.body.external_subject).toBe(`name-of-${admin.id}`)
      expect(revealed.body).not.toHaveProperty('email')
    })

    it('answers alike for an identity of another Domain and for none', async () => {
      const other = await access.person(await access.domain('far'))
      for (const id of [other.id, UNKNOWN]) {
        const answer = await show(admin, id)
        expect([answer.status, answer.body.code]).toEqual([404, 'identity_not_found'])
      }
      const malformed = await show(admin, 'nonsense')
      expect([malformed.status, malformed.body.code]).toEqual([400, 'invalid_principal_id'])
    })
  })
})

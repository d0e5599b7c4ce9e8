import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Answer } from '../support/server/control-plane.ts'
import { START_MS } from '../support/server/test-backend.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startTenancy, type Tenancy } from '../support/server/tenancy.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const PLATFORM = { domainId: null, projectId: null }

describe.each(STORES)('Grants on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let tenancy: Tenancy
    let domainId: string
    let admin: string
    beforeAll(async () => {
      tenancy = await startTenancy(store)
      domainId = await tenancy.domain()
      admin = await tenancy.holder(domainId, 'admin', `domain:${domainId}`)
    })
    afterAll(() => tenancy.stop())

    const grant = (subject: string, relation: string, as = admin): Promise<Answer> =>
      tenancy.call(as, `POST /v1/domains/${domainId}/grants`, { subject, relation })
    const grantOnPlatform = (subject: string, relation: string): Promise<Answer> =>
      tenancy.call(tenancy.root, 'POST /v1/platform/grants', { subject, relation })
    const revokeOnPlatform = (id: unknown): Promise<Answer> =>
      tenancy.call(tenancy.root, `DELETE /v1/platform/grants/${String(id)}`)
    const codeOf = ({ status, body }: Answer) => [status, body['code']]

    describe('CreateDomainGrant', () => {
      it('binds the subject, announces and audits it, and takes effect at once', async () => {
        const subject = await tenancy.principal(domainId)
        const before = await tenancy.call(subject, `GET /v1/domains/${domainId}`)
        const answer = await grant(subject, 'viewer')
        expect([before.status, answer.status]).toEqual([403, 201])
        const id = String(answer.body['id'])
        const resource = `domain:${domainId}`
        const created = '2026-03-01T08:00:00.000Z'
        expect(answer.body).toEqual({ id, subject, relation: 'viewer', resource, created_at: created })
        expect(await tenancy.tuplesOf(subject)).toContain(`${subject} viewer ${resource}`)
        expect(await tenancy.outbox(answer)).toEqual([
          {
            event: 'GrantCreated',
            domain_id: domainId,
            aggregate: resource,
            payload: { tuple_id: id, subject, relation: 'viewer' },
          },
        ])
        expect(await tenancy.audit(answer)).toEqual({
          relation: 'domain_grant.create',
          object: resource,
          outcome: 'granted',
          reason: 'granted',
          domainId,
        })
        expect((await tenancy.call(subject, `GET /v1/domains/${domainId}`)).status).toBe(200)
      })

      it.each(['admin', 'operator', 'auditor', 'viewer'])('grants the role %s to a service identity', async (role) => {
        const subject = await tenancy.principal(domainId, 'service-identity')
        expect((await grant(subject, role)).body).toMatchObject({ subject, relation: role })
      })

      it('grants a role to the members of a group', async () => {
        const group = await tenancy.group(domainId)
        const member = await tenancy.principal(domainId)
        await tenancy.call(admin, `PUT /v1/domains/${domainId}/groups/${group}/members/${member}`)
        expect((await grant(`group:${group}#member`, 'viewer')).status).toBe(201)
        expect((await tenancy.call(member, `GET /v1/domains/${domainId}`)).status).toBe(200)
      })

      it('writes ids in lower case, so that one binding cannot be made twice', async () => {
        const subject = await tenancy.principal(domainId)
        const shouted = `user:${subject.slice('user:'.length).toUpperCase()}`
        expect((await grant(shouted, 'viewer')).body).toMatchObject({ subject })
        expect(codeOf(await grant(subject, 'viewer'))).toEqual([409, 'tuple_already_exists'])
      })

      it('refuses an identical grant and announces nothing', async () => {
        const subject = await tenancy.principal(domainId)
        await grant(subject, 'viewer')
        const again = await grant(subject, 'viewer')
        expect(codeOf(again)).toEqual([409, 'tuple_already_exists'])
        expect(await tenancy.outbox(again)).toEqual([])
        expect(await tenancy.audit(again)).toMatchObject({
          outcome: 'invariant_violation',
          reason: 'tuple_already_exists',
        })
        expect((await grant(subject, 'operator')).status).toBe(201)
      })

      it.each([
        ['a wildcard', () => 'user:*'],
        ['a bare group', async () => `group:${await tenancy.group(domainId)}`],
        ['a user who does not exist', () => `user:${NOWHERE}`],
        ['a group that does not exist', () => `group:${NOWHERE}#member`],
        [
          'a service identity named as a user',
          async () => (await tenancy.principal(domainId, 'service-identity')).replace('serviceaccount', 'user'),
        ],
        ['a principal of another Domain', () => tenancy.principal(tenancy.home)],
        ['a group of another Domain', async () => `group:${await tenancy.group(tenancy.home)}#member`],
        ['a node', async () => `node:${await tenancy.node({ domainId })}`],
        ['no reference', () => 'anna'],
      ])('refuses %s as subject, saying that it is the subject', async (_what, subjectOf) => {
        const answer = await grant(await subjectOf(), 'viewer')
        expect(codeOf(answer)).toEqual([400, 'invalid_triple'])
        expect(answer.body).toMatchObject({ part: 'subject', errors: [{ pointer: '/subject' }] })
        expect(await tenancy.outbox(answer)).toEqual([])
      })

      it.each(['platform', 'manage', 'read', 'deployer', 'member', 'auditor_role', 'Admin'])(
        'refuses %s, which is no role of a Domain',
        async (relation) => {
          const answer = await grant(await tenancy.principal(domainId), relation)
          expect(codeOf(answer)).toEqual([400, 'invalid_triple'])
          expect(answer.body).toMatchObject({ part: 'relation', errors: [{ pointer: '/relation' }] })
        },
      )

      it('takes a principal of another Domain who holds a role on the platform, by name or through groups', async () => {
        const named = await tenancy.holder(tenancy.home, 'viewer', 'platform:main')
        const [inner, outer] = [await tenancy.group(tenancy.home), await tenancy.group(tenancy.home)]
        const nested = await tenancy.principal(tenancy.home)
        const add = (group: string, member: string) =>
          tenancy.call(
            tenancy.root,
            `PUT /v1/domains/${tenancy.home}/groups/${group}/members/${encodeURIComponent(member)}`,
          )
        await add(inner, nested)
        await add(outer, `group:${inner}#member`)
        expect(codeOf(await grant(nested, 'viewer'))).toEqual([400, 'invalid_triple'])
        await grantOnPlatform(`group:${outer}#member`, 'auditor')
        const subjects = [named, nested, `group:${inner}#member`, `group:${outer}#member`]
        const statuses: number[] = []
        for (const subject of subjects) statuses.push((await grant(subject, 'viewer')).status)
        expect(statuses).toEqual([201, 201, 201, 201])
      })

      it('is refused to an operator of the Domain, and in an unknown Domain, before anything is read', async () => {
        const operator = await tenancy.holder(domainId, 'operator', `domain:${domainId}`)
        expect((await grant(operator, 'admin', operator)).status).toBe(403)
        expect(await tenancy.tuplesOf(operator)).not.toContain(`${operator} admin domain:${domainId}`)
        const body = { subject: operator, relation: 'viewer' }
        expect((await tenancy.call(tenancy.root, `POST /v1/domains/${NOWHERE}/grants`, body)).status).toBe(403)
      })

      it('answers domain_not_found where the Domain went away after the gate', async () => {
        const gone = tenancy.ids.next()
        const edge = { subject: 'platform:main', relation: 'platform', resource: `domain:${gone}` }
        await tenancy.change(({ tuples }) => tuples.createStructural(edge, { domainId: gone, projectId: null }))
        const body = { subject: tenancy.root, relation: 'viewer' }
        const answer = await tenancy.call(tenancy.root, `POST /v1/domains/${gone}/grants`, body)
        expect(codeOf(answer)).toEqual([404, 'domain_not_found'])
      })
    })

    describe('ListDomainGrants', () => {
      it('lists the roles on that Domain alone, oldest first, without the parent edge, page by page', async () => {
        const own = await tenancy.domain()
        const ids: unknown[] = []
        for (let minutes = 0; minutes < 3; minutes++) {
          tenancy.clock.nowMs = START_MS + minutes * 60_000
          const body = { subject: await tenancy.principal(own), relation: 'viewer' }
          ids.push((await tenancy.call(tenancy.root, `POST /v1/domains/${own}/grants`, body)).body['id'])
        }
        const twin = { subject: await tenancy.principal(own), relation: 'viewer' }
        ids.push((await tenancy.call(tenancy.root, `POST /v1/domains/${own}/grants`, twin)).body['id'])
        tenancy.clock.nowMs = START_MS
        const expected = [...ids.slice(0, 2), ...ids.slice(2).toSorted()]
        const seen: unknown[] = []
        for (let query = '?limit=1'; query !== '';) {
          const { body } = await tenancy.call(tenancy.root, `GET /v1/domains/${own}/grants${query}`)
          seen.push(...(body['items'] as { id: string }[]).map(({ id }) => id))
          query = typeof body['next_cursor'] === 'string' ? `?limit=1&cursor=${body['next_cursor']}` : ''
        }
        expect(seen).toEqual(expected)
      })

      it('is refused to a viewer', async () => {
        const viewer = await tenancy.holder(domainId, 'viewer', `domain:${domainId}`)
        expect((await tenancy.call(viewer, `GET /v1/domains/${domainId}/grants`)).status).toBe(403)
      })
    })

    describe('DeleteDomainGrant', () => {
      it('takes the role back at once, announces and audits it', async () => {
        const subject = await tenancy.principal(domainId)
        const id = String((await grant(subject, 'viewer')).body['id'])
        const answer = await tenancy.call(admin, `DELETE /v1/domains/${domainId}/grants/${id}`)
        expect(answer.status).toBe(204)
        expect((await tenancy.call(subject, `GET /v1/domains/${domainId}`)).status).toBe(403)
        expect(await tenancy.outbox(answer)).toEqual([
          {
            event: 'GrantDeleted',
            domain_id: domainId,
            aggregate: `domain:${domainId}`,
            payload: { tuple_id: id, subject, relation: 'viewer' },
          },
        ])
        expect(await tenancy.audit(answer)).toMatchObject({
          relation: 'domain_grant.delete',
          outcome: 'granted',
          domainId,
        })
      })

      it('does not find tuples of another object, the parent edge among them, and leaves them', async () => {
        const other = await tenancy.domain()
        const subject = await tenancy.principal(other)
        const body = { subject, relation: 'viewer' }
        const elsewhere = (await tenancy.call(tenancy.root, `POST /v1/domains/${other}/grants`, body)).body['id']
        const onPlatform = (await grantOnPlatform(subject, 'viewer')).body['id']
        const edge = await tenancy.db
          .selectFrom('relation_tuples')
          .select('id')
          .where('resource_id', '=', domainId)
          .where('structural', '=', true)
          .executeTakeFirstOrThrow()
        for (const id of [elsewhere, onPlatform, edge.id, NOWHERE]) {
          const answer = await tenancy.call(tenancy.root, `DELETE /v1/domains/${domainId}/grants/${String(id)}`)
          expect(codeOf(answer)).toEqual([404, 'tuple_not_found'])
          expect(await tenancy.outbox(answer)).toEqual([])
        }
        expect(await tenancy.tuplesOf(subject)).toEqual([
          `domain:${other} domain ${subject}`,
          `${subject} viewer domain:${other}`,
          `${subject} viewer platform:main`,
        ])
        expect(await tenancy.tuplesOf(`domain:${domainId}`)).toContain(`platform:main platform domain:${domainId}`)
      })

      it('takes a grant back once, whoever else asks at the same moment', async () => {
        const id = (await grant(await tenancy.principal(domainId), 'viewer')).body['id']
        const remove = () => tenancy.call(admin, `DELETE /v1/domains/${domainId}/grants/${String(id)}`)
        const statuses = (await Promise.all([remove(), remove(), remove()])).map(({ status }) => status)
        expect(statuses.toSorted()).toEqual([204, 404, 404])
      })
    })

    describe('grants on the platform', () => {
      it('binds any principal, announces and audits it on the platform', async () => {
        const subject = await tenancy.principal(domainId, 'service-identity')
        const answer = await grantOnPlatform(subject, 'auditor')
        const id = String(answer.body['id'])
        expect(answer.status).toBe(201)
        expect(answer.body).toMatchObject({ subject, relation: 'auditor', resource: 'platform:main' })
        expect(await tenancy.outbox(answer)).toMatchObject([{ event: 'GrantCreated', domain_id: null }])
        const row = { relation: 'platform_grant.create', object: 'platform:main', domainId: null, outcome: 'granted' }
        expect(await tenancy.audit(answer)).toMatchObject(row)
        const removed = await revokeOnPlatform(id)
        expect(removed.status).toBe(204)
        expect(await tenancy.outbox(removed)).toMatchObject([{ event: 'GrantDeleted', payload: { tuple_id: id } }])
      })

      it('refuses a role that the platform does not have, and a subject that does not exist', async () => {
        const operator = await grantOnPlatform(await tenancy.principal(domainId), 'operator')
        expect(codeOf(operator)).toEqual([400, 'invalid_triple'])
        expect(codeOf(await grantOnPlatform(`user:${NOWHERE}`, 'admin'))).toEqual([400, 'invalid_triple'])
      })

      it('is refused to the administrator of a Domain', async () => {
        const body = { subject: admin, relation: 'admin' }
        expect((await tenancy.call(admin, 'POST /v1/platform/grants', body)).status).toBe(403)
        expect((await tenancy.call(admin, 'GET /v1/platform/grants')).status).toBe(403)
      })

      it('does not find the grants of a Domain', async () => {
        const id = (await grant(await tenancy.principal(domainId), 'viewer')).body['id']
        expect(codeOf(await revokeOnPlatform(id))).toEqual([404, 'tuple_not_found'])
      })

      it('keeps the last administrator who is named, whatever groups hold', async () => {
        const group = await tenancy.group(domainId)
        await grantOnPlatform(`group:${group}#member`, 'admin')
        const root = await tenancy.db
          .selectFrom('relation_tuples')
          .select('id')
          .where('resource_type', '=', 'platform')
          .where('subject_id', '=', tenancy.root.slice('user:'.length))
          .executeTakeFirstOrThrow()
        const answer = await revokeOnPlatform(root.id)
        expect(codeOf(answer)).toEqual([409, 'last_platform_admin'])
        expect(await tenancy.tuplesOf(tenancy.root)).toContain(`${tenancy.root} admin platform:main`)
        expect(await tenancy.audit(answer)).toMatchObject({ outcome: 'invariant_violation', domainId: null })
      })

      it('keeps one administrator when all are taken back at the same moment', async () => {
        for (let round = 0; round < 5; round++) {
          const own = await tenancy.principal(tenancy.home)
          const rootId = await bindAdmin(tenancy, tenancy.root)
          const ownId = await bindAdmin(tenancy, own)
          const revoke = (as: string, id: string) => tenancy.call(as, `DELETE /v1/platform/grants/${id}`)
          const answers = await Promise.all([revoke(tenancy.root, ownId), revoke(own, rootId)])
          const kept = await tenancy.db
            .selectFrom('relation_tuples')
            .select('id')
            .where('resource_type', '=', 'platform')
            .where('relation', '=', 'admin')
            .where('subject_relation', '=', '')
            .execute()
          expect(kept).toHaveLength(1)
          const outcomes = answers.map(({ status }) => status).toSorted()
          expect([
            [204, 403],
            [204, 409],
          ]).toContainEqual(outcomes)
          await bindAdmin(tenancy, tenancy.root)
          await tenancy.change(({ tuples }) => tuples.delete(ownId))
        }
      })
    })
  })
})

/** Makes the principal an administrator of the platform by name and returns the id of its tuple. */
async function bindAdmin({ change, db }: Tenancy, subject: string): Promise<string> {
  await change(({ tuples }) => tuples.create({ subject, relation: 'admin', resource: 'platform:main' }, PLATFORM))
  const { id } = await db
    .selectFrom('relation_tuples')
    .select('id')
    .where('resource_type', '=', 'platform')
    .where('relation', '=', 'admin')
    .where('subject_id', '=', subject.slice('user:'.length))
    .executeTakeFirstOrThrow()
  return id
}

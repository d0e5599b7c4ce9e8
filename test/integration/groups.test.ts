import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Answer } from '../support/server/control-plane.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startReplica, startTenancy, type Tenancy } from '../support/server/tenancy.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'

describe.each(STORES)('Groups on the $name store', (store) => {
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

    const codeOf = ({ status, body }: Answer) => [status, body['code']]
    const memberPath = (group: string, member: string) =>
      `/v1/domains/${domainId}/groups/${group}/members/${encodeURIComponent(member)}`
    const add = (group: string, member: string) => tenancy.call(admin, `PUT ${memberPath(group, member)}`)
    const remove = (group: string, member: string) => tenancy.call(admin, `DELETE ${memberPath(group, member)}`)
    const membersOf = async (group: string) =>
      (await tenancy.call(admin, `GET /v1/domains/${domainId}/groups/${group}`)).body['members']

    describe('CreateGroup', () => {
      it('stores the group, hangs it off its Domain, announces and audits it', async () => {
        const body = { slug: 'ops', display_name: 'Operations' }
        const answer = await tenancy.call(admin, `POST /v1/domains/${domainId}/groups`, body)
        expect(answer.status).toBe(201)
        const id = String(answer.body['id'])
        expect(answer.body).toEqual({
          id,
          domain_id: domainId,
          ...body,
          provider_group: null,
          created_at: '2026-03-01T08:00:00.000Z',
        })
        expect(await tenancy.tuplesOf(`group:${id}`)).toEqual([`domain:${domainId} domain group:${id}`])
        expect(await tenancy.outbox(answer)).toEqual([
          {
            event: 'GroupCreated',
            domain_id: domainId,
            aggregate: `group:${id}`,
            payload: { group_id: id, slug: 'ops' },
          },
        ])
        expect(await tenancy.audit(answer)).toEqual({
          relation: 'group.create',
          object: `group:${id}`,
          outcome: 'granted',
          reason: 'granted',
          domainId,
        })
      })

      it('is refused to an operator', async () => {
        const operator = await tenancy.holder(domainId, 'operator', `domain:${domainId}`)
        const body = { slug: 'operators-own', display_name: 'Mine' }
        expect((await tenancy.call(operator, `POST /v1/domains/${domainId}/groups`, body)).status).toBe(403)
        expect(await tenancy.db.selectFrom('groups').select('id').where('slug', '=', body.slug).execute()).toEqual([])
      })

      it('answers domain_not_found where the Domain went away after the gate', async () => {
        const gone = tenancy.ids.next()
        const edge = { subject: 'platform:main', relation: 'platform', resource: `domain:${gone}` }
        await tenancy.change(({ tuples }) => tuples.createStructural(edge, { domainId: gone, projectId: null }))
        const body = { slug: 'late', display_name: 'Late' }
        const answer = await tenancy.call(tenancy.root, `POST /v1/domains/${gone}/groups`, body)
        expect(codeOf(answer)).toEqual([404, 'domain_not_found'])
      })
    })

    describe('ListGroups and GetGroup', () => {
      it('lists the groups of that Domain alone to those who may read it', async () => {
        const own = await tenancy.domain()
        for (const slug of ['b', 'a']) await tenancy.group(own, slug)
        const viewer = await tenancy.holder(own, 'viewer', `domain:${own}`)
        const listed = await tenancy.call(viewer, `GET /v1/domains/${own}/groups`)
        expect(listed.body['items']).toMatchObject([{ slug: 'a' }, { slug: 'b' }])
        const stranger = await tenancy.principal(domainId)
        expect((await tenancy.call(stranger, `GET /v1/domains/${own}/groups`)).status).toBe(403)
      })

      it('does not find a group under another Domain', async () => {
        const id = await tenancy.group(tenancy.home)
        const answer = await tenancy.call(tenancy.root, `GET /v1/domains/${domainId}/groups/${id}`)
        expect(codeOf(answer)).toEqual([404, 'group_not_found'])
      })
    })

    describe('PutGroupMember', () => {
      it('adds users, service identities and groups, and shows them', async () => {
        const [group, inner] = [await tenancy.group(domainId), await tenancy.group(domainId)]
        const user = await tenancy.principal(domainId)
        const service = await tenancy.principal(domainId, 'service-identity')
        const answer = await add(group, user)
        expect([answer.status, answer.body]).toEqual([204, {}])
        await add(group, service)
        await add(group, `group:${inner}#member`)
        const members = await membersOf(group)
        expect(new Set(members as string[])).toEqual(new Set([user, service, `group:${inner}#member`]))
        expect(await tenancy.outbox(answer)).toEqual([
          {
            event: 'GroupMemberAdded',
            domain_id: domainId,
            aggregate: `group:${group}`,
            payload: { group_id: group, slug: expect.any(String), subject: user },
          },
        ])
        expect(await tenancy.audit(answer)).toMatchObject({
          relation: 'group_member.add',
          object: `group:${group}`,
          outcome: 'granted',
          domainId,
        })
      })

      it('gives members what the group holds, through groups in groups', async () => {
        const [outer, inner] = [await tenancy.group(domainId), await tenancy.group(domainId)]
        const user = await tenancy.principal(domainId)
        await add(inner, user)
        const grant = { subject: `group:${outer}#member`, relation: 'viewer' }
        await tenancy.call(admin, `POST /v1/domains/${domainId}/grants`, grant)
        const read = async () => (await tenancy.call(user, `GET /v1/domains/${domainId}`)).status
        const before = await read()
        await add(outer, `group:${inner}#member`)
        const during = await read()
        await remove(outer, `group:${inner}#member`)
        expect([before, during, await read()]).toEqual([403, 200, 403])
      })

      it('changes and announces nothing when the member is there already, and audits the call', async () => {
        const group = await tenancy.group(domainId)
        const user = await tenancy.principal(domainId)
        await add(group, user)
        const again = await add(group, user)
        expect(again.status).toBe(204)
        expect(await membersOf(group)).toEqual([user])
        expect(await tenancy.outbox(again)).toEqual([])
        expect(await tenancy.audit(again)).toMatchObject({ relation: 'group_member.add', outcome: 'granted' })
      })

      it.each([
        ['a wildcard', () => 'user:*'],
        ['a bare group', async () => `group:${await tenancy.group(domainId)}`],
        ['a user who does not exist', () => `user:${NOWHERE}`],
        ['a principal of another Domain', () => tenancy.principal(tenancy.home)],
        ['a group of another Domain', async () => `group:${await tenancy.group(tenancy.home)}#member`],
        ['no reference', () => 'anna'],
      ])('refuses %s as member', async (_what, subjectOf) => {
        const group = await tenancy.group(domainId)
        const answer = await add(group, await subjectOf())
        expect(codeOf(answer)).toEqual([400, 'invalid_triple'])
        expect(answer.body).toMatchObject({ part: 'subject' })
        expect(await membersOf(group)).toEqual([])
      })

      it('takes a principal of another Domain who holds a role on the platform', async () => {
        const group = await tenancy.group(domainId)
        const visitor = await tenancy.holder(tenancy.home, 'viewer', 'platform:main')
        expect((await add(group, visitor)).status).toBe(204)
      })

      it('refuses to make a group a member of itself, directly or through others', async () => {
        const [one, two, three] = [
          await tenancy.group(domainId),
          await tenancy.group(domainId),
          await tenancy.group(domainId),
        ]
        await add(one, `group:${two}#member`)
        await add(two, `group:${three}#member`)
        for (const [group, member] of [
          [one, one],
          [two, one],
          [three, one],
        ] as const) {
          const answer = await add(group, `group:${member}#member`)
          expect(codeOf(answer)).toEqual([400, 'invalid_triple'])
          expect(answer.body).toMatchObject({ part: 'subject', reason: 'cycle' })
        }
        expect(await membersOf(three)).toEqual([])
      })

      it('refuses two groups that become members of each other at the same moment', async () => {
        for (let round = 0; round < 10; round++) {
          const [one, two] = [await tenancy.group(domainId), await tenancy.group(domainId)]
          const answers = await Promise.all([add(one, `group:${two}#member`), add(two, `group:${one}#member`)])
          expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 400])
        }
      })

      // The embedded store belongs to one process.
      it.skipIf(store.name === 'embedded')('refuses that on two replicas too', async () => {
        const replica = await startReplica(tenancy)
        replica.callers.add(admin, domainId)
        try {
          for (let round = 0; round < 10; round++) {
            const [one, two] = [await tenancy.group(domainId), await tenancy.group(domainId)]
            const there = replica.call(admin, `PUT ${memberPath(two, `group:${one}#member`)}`)
            const answers = await Promise.all([add(one, `group:${two}#member`), there])
            expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 400])
          }
        } finally {
          await replica.stop()
        }
      })

      it('nests groups 40 deep and no deeper', async () => {
        const chain: string[] = []
        for (let depth = 0; depth < 42; depth++) chain.push(await tenancy.group(domainId))
        const statuses: number[] = []
        for (let depth = 1; depth < 42; depth++) {
          statuses.push((await add(chain[depth - 1] ?? '', `group:${chain[depth]}#member`)).status)
        }
        expect(statuses).toEqual([...Array.from({ length: 40 }, () => 204), 400])
      })

      it('takes 1,000 direct members and no more, and still the one that is there already', async () => {
        const group = await tenancy.group(domainId)
        const first = await tenancy.principal(domainId)
        await add(group, first)
        await sql`
          insert into relation_tuples
          select gen_random_uuid(), 'user', gen_random_uuid()::text, '', 'member', 'group', ${group}, '', '[]',
            ${domainId}::uuid, null, false, 0, now()
          from generate_series(1, 998)
        `.execute(tenancy.db)
        const [last, late] = [await tenancy.principal(domainId), await tenancy.principal(domainId)]
        const answers = await Promise.all([add(group, last), add(group, late)])
        expect(answers.map((answer) => codeOf(answer)).toSorted()).toEqual([
          [204, undefined],
          [409, 'group_full'],
        ])
        expect((await add(group, first)).status).toBe(204)
        expect(await membersOf(group)).toHaveLength(1000)
        await remove(group, first)
        const refused = answers[0]?.status === 409 ? last : late
        expect((await add(group, refused)).status).toBe(204)
      })

      it('does not find a group under another Domain', async () => {
        const id = await tenancy.group(tenancy.home)
        expect(codeOf(await add(id, await tenancy.principal(domainId)))).toEqual([404, 'group_not_found'])
      })

      it('is refused to an operator', async () => {
        const group = await tenancy.group(domainId)
        const operator = await tenancy.holder(domainId, 'operator', `domain:${domainId}`)
        expect((await tenancy.call(operator, `PUT ${memberPath(group, operator)}`)).status).toBe(403)
      })
    })

    describe('DeleteGroupMember', () => {
      it('removes the member, announces and audits it', async () => {
        const group = await tenancy.group(domainId)
        const user = await tenancy.principal(domainId)
        await add(group, user)
        const answer = await remove(group, user)
        expect(answer.status).toBe(204)
        expect(await membersOf(group)).toEqual([])
        expect(await tenancy.outbox(answer)).toMatchObject([
          { event: 'GroupMemberRemoved', domain_id: domainId, aggregate: `group:${group}`, payload: { subject: user } },
        ])
        expect(await tenancy.audit(answer)).toMatchObject({ relation: 'group_member.remove', outcome: 'granted' })
      })

      it('refuses what is no subject, and does not find a group under another Domain', async () => {
        const group = await tenancy.group(domainId)
        expect(codeOf(await remove(group, 'anna'))).toEqual([400, 'invalid_triple'])
        const elsewhere = await tenancy.group(tenancy.home)
        expect(codeOf(await remove(elsewhere, admin))).toEqual([404, 'group_not_found'])
      })
    })

    describe('PatchGroup', () => {
      const patch = (caller: string, id: string, body: object) =>
        tenancy.call(caller, `PATCH /v1/domains/${domainId}/groups/${id}`, body)

      it('changes the display name alone, announces and audits it', async () => {
        const id = await tenancy.group(domainId, 'renamed')
        await add(id, admin)
        const answer = await patch(admin, id, { display_name: 'New' })
        expect(answer.status).toBe(200)
        expect(answer.body).toMatchObject({ id, slug: 'renamed', display_name: 'New' })
        expect(await membersOf(id)).toEqual([admin])
        expect(await tenancy.outbox(answer)).toEqual([
          {
            event: 'GroupUpdated',
            domain_id: domainId,
            aggregate: `group:${id}`,
            payload: { group_id: id, slug: 'renamed' },
          },
        ])
        expect(await tenancy.audit(answer)).toMatchObject({
          relation: 'group.update',
          object: `group:${id}`,
          outcome: 'granted',
          domainId,
        })
      })

      it('refuses a slug, a viewer and a group of another Domain', async () => {
        const id = await tenancy.group(domainId)
        expect((await patch(admin, id, { slug: 'other' })).status).toBe(400)
        const viewer = await tenancy.holder(domainId, 'viewer', `domain:${domainId}`)
        expect((await patch(viewer, id, { display_name: 'Mine' })).status).toBe(403)
        const elsewhere = await tenancy.group(tenancy.home)
        expect(codeOf(await patch(admin, elsewhere, { display_name: 'Mine' }))).toEqual([404, 'group_not_found'])
      })
    })

    describe('DeleteGroup', () => {
      it('removes the group with its members and what was granted to it, announces and audits it', async () => {
        const [group, outer] = [await tenancy.group(domainId, 'gone'), await tenancy.group(domainId)]
        const user = await tenancy.principal(domainId)
        await add(group, user)
        await add(outer, `group:${group}#member`)
        const grant = { subject: `group:${group}#member`, relation: 'viewer' }
        await tenancy.call(admin, `POST /v1/domains/${domainId}/grants`, grant)
        expect((await tenancy.call(user, `GET /v1/domains/${domainId}`)).status).toBe(200)
        const answer = await tenancy.call(admin, `DELETE /v1/domains/${domainId}/groups/${group}`)
        expect(answer.status).toBe(204)
        expect(await tenancy.tuplesOf(`group:${group}`)).toEqual([])
        expect(await membersOf(outer)).toEqual([])
        expect((await tenancy.call(user, `GET /v1/domains/${domainId}`)).status).toBe(403)
        expect(await tenancy.outbox(answer)).toEqual([
          {
            event: 'GroupDeleted',
            domain_id: domainId,
            aggregate: `group:${group}`,
            payload: { group_id: group, slug: 'gone' },
          },
        ])
        expect(await tenancy.audit(answer)).toMatchObject({
          relation: 'group.delete',
          object: `group:${group}`,
          outcome: 'granted',
          domainId,
        })
      })

      it('goes once, whoever else deletes it at the same moment', async () => {
        const id = await tenancy.group(domainId)
        const remover = () => tenancy.call(admin, `DELETE /v1/domains/${domainId}/groups/${id}`)
        const statuses = (await Promise.all([remover(), remover(), remover()])).map(({ status }) => status)
        expect(statuses.toSorted()).toEqual([204, 404, 404])
      })

      it('leaves no grant and no membership behind that was made at the same moment', async () => {
        for (let round = 0; round < 10; round++) {
          const [group, outer] = [await tenancy.group(domainId), await tenancy.group(domainId)]
          const user = await tenancy.principal(domainId)
          const subject = `group:${group}#member`
          const bindings = () => [
            tenancy.call(admin, `POST /v1/domains/${domainId}/grants`, { subject, relation: 'viewer' }),
            add(group, user),
            add(outer, subject),
          ]
          const deletion = () => tenancy.call(admin, `DELETE /v1/domains/${domainId}/groups/${group}`)
          const calls = round % 2 === 0 ? [...bindings(), deletion()] : [deletion(), ...bindings()]
          const statuses = (await Promise.all(calls)).map(({ status }) => status)
          expect(Math.max(...statuses)).toBeLessThan(500)
          expect(await tenancy.tuplesOf(`group:${group}`)).toEqual([])
        }
      })
    })
  })
})

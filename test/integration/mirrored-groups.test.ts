import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMirroredGroups } from '../../src/server/slices/groups/mirrored-groups.ts'
import type { Answer } from '../support/server/control-plane.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startTenancy, type Tenancy } from '../support/server/tenancy.ts'

describe.each(STORES)('Groups that mirror the identity provider on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let tenancy: Tenancy
    let domainId: string
    let admin: string
    beforeAll(async () => {
      tenancy = await startTenancy(store)
      domainId = await tenancy.domain()
      admin = await tenancy.holder(domainId, 'admin', `domain:${domainId}`)
    })
    afterAll(() => tenancy.stop())

    const { mirror } = createMirroredGroups({ isHeld: () => Promise.resolve(false) })
    const codeOf = ({ status, body }: Answer) => [status, body['code']]
    const idOf = (subject: string) => subject.slice('user:'.length)
    const create = (slug: string, provider_group?: string, place = domainId) =>
      tenancy.call(tenancy.root, `POST /v1/domains/${place}/groups`, {
        slug,
        display_name: slug,
        ...(provider_group !== undefined && { provider_group }),
      })
    const mirrored = async (name: string) => String((await create(`m-${tenancy.ids.next()}`, name)).body['id'])
    const signIn = (subject: string, names: readonly string[], place = domainId) =>
      tenancy.change((change) => mirror(change, { userId: idOf(subject), domainId: place, names }))
    const groupsOf = async (subject: string) =>
      (await tenancy.tuplesOf(subject)).filter((tuple) => tuple.startsWith(subject)).map((tuple) => tuple.split(':')[2])

    it('are made and shown with the group of the provider, which one group of a Domain may mirror', async () => {
      const made = await create('admins', 'Admins of the realm')
      expect([made.status, made.body['provider_group']]).toEqual([201, 'Admins of the realm'])
      const listed = await tenancy.call(admin, `GET /v1/domains/${domainId}/groups`)
      expect(listed.body['items']).toMatchObject([{ slug: 'admins', provider_group: 'Admins of the realm' }])
      expect(codeOf(await create('others', 'Admins of the realm'))).toEqual([409, 'provider_group_conflict'])
      expect(codeOf(await create('admins', 'Something else'))).toEqual([409, 'slug_conflict'])
      expect((await create('others', 'Admins of the realm', tenancy.home)).status).toBe(201)
      expect((await create('two', 'admins of the realm')).status).toBe(201)
    })

    it('take no member and lose none by hand', async () => {
      const group = await mirrored('by-hand')
      const user = await tenancy.principal(domainId)
      const member = `/v1/domains/${domainId}/groups/${group}/members/${encodeURIComponent(user)}`
      expect(codeOf(await tenancy.call(admin, `PUT ${member}`))).toEqual([409, 'group_managed_by_provider'])
      await signIn(user, ['by-hand'])
      const removal = await tenancy.call(admin, `DELETE ${member}`)
      expect(codeOf(removal)).toEqual([409, 'group_managed_by_provider'])
      expect(await tenancy.outbox(removal)).toEqual([])
      expect(await groupsOf(user)).toEqual([group])
    })

    it('have as members whom the provider named last, and announce who came and went', async () => {
      const [ops, dev] = [await mirrored('ops'), await mirrored('dev')]
      const user = await tenancy.principal(domainId)
      const before = await tenancy.db
        .selectFrom('outbox')
        .select(sql<string>`max(id)`.as('id'))
        .executeTakeFirstOrThrow()
      expect(await signIn(user, ['ops', 'unknown'])).toEqual({ added: 1, removed: 0, full: 0, held: 0 })
      expect(await signIn(user, ['ops'])).toEqual({ added: 0, removed: 0, full: 0, held: 0 })
      expect(await signIn(user, ['dev'])).toEqual({ added: 1, removed: 1, full: 0, held: 0 })
      expect(await groupsOf(user)).toEqual([dev])
      expect(await signIn(user, [])).toEqual({ added: 0, removed: 1, full: 0, held: 0 })
      expect(await groupsOf(user)).toEqual([])
      const events = await tenancy.db
        .selectFrom('outbox')
        .select(['event', 'aggregate'])
        .where('id', '>', before.id)
        .orderBy('id')
        .execute()
      expect(events.map(({ event, aggregate }) => `${event} ${aggregate}`)).toEqual(
        expect.arrayContaining([
          `GroupMemberAdded group:${ops}`,
          `GroupMemberRemoved group:${ops}`,
          `GroupMemberAdded group:${dev}`,
          `GroupMemberRemoved group:${dev}`,
        ]),
      )
      expect(events).toHaveLength(4)
    })

    it('leave alone the groups that people manage, whatever they are called', async () => {
      const group = await tenancy.group(domainId, 'by-people')
      const [member, other] = [await tenancy.principal(domainId), await tenancy.principal(domainId)]
      await tenancy.call(admin, `PUT /v1/domains/${domainId}/groups/${group}/members/${encodeURIComponent(member)}`)
      await signIn(member, [])
      await signIn(other, ['by-people'])
      expect(await groupsOf(member)).toEqual([group])
      expect(await groupsOf(other)).toEqual([])
    })

    it('are those of the Domain that is signed in to, and of no other', async () => {
      const elsewhere = await tenancy.domain()
      await create('same', 'same', elsewhere)
      const user = await tenancy.principal(domainId)
      expect(await signIn(user, ['same'])).toEqual({ added: 0, removed: 0, full: 0, held: 0 })
      expect(await groupsOf(user)).toEqual([])
    })

    it('take 1,000 members, and say when somebody was left out', async () => {
      const group = await mirrored('crowd')
      await sql`
        insert into relation_tuples
        select gen_random_uuid(), 'user', gen_random_uuid()::text, '', 'member', 'group', ${group}, '', '[]',
          ${domainId}::uuid, null, false, 0, now()
        from generate_series(1, 999)
      `.execute(tenancy.db)
      const [last, late] = [await tenancy.principal(domainId), await tenancy.principal(domainId)]
      expect(await signIn(last, ['crowd'])).toEqual({ added: 1, removed: 0, full: 0, held: 0 })
      expect(await signIn(late, ['crowd'])).toEqual({ added: 0, removed: 0, full: 1, held: 0 })
    })

    it('do not make many sign-ins at once wait for each other', async () => {
      const names = ['a', 'b', 'c'].map((name) => `race-${name}`)
      for (const name of names) await mirrored(name)
      const users = await Promise.all(Array.from({ length: 6 }, () => tenancy.principal(domainId)))
      const counts = await Promise.all(users.map((user, at) => signIn(user, at % 2 === 0 ? names : names.toReversed())))
      expect(counts).toEqual(users.map(() => ({ added: 3, removed: 0, full: 0, held: 0 })))
    })
  })
})

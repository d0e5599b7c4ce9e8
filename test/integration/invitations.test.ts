import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createInvitationSweeper } from '../../src/server/slices/invitations/invitation-sweeper.ts'
import { createInvitationBook } from '../../src/server/slices/invitations/service.ts'
import type { Answer } from '../support/server/control-plane.ts'
import { START_MS } from '../support/server/test-backend.ts'
import { unfenced } from '../support/datastores/leading.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startTenancy, type Tenancy } from '../support/server/tenancy.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'

describe.each(STORES)('Invitations on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let tenancy: Tenancy
    let domainId: string
    let admin: string
    beforeAll(async () => {
      tenancy = await startTenancy(store, { surfaces: ['invitations'] })
    })
    beforeEach(async () => {
      tenancy.clock.nowMs = START_MS
      domainId = await tenancy.domain()
      admin = await tenancy.holder(domainId, 'admin', `domain:${domainId}`)
    })
    afterAll(() => tenancy.stop())

    const path = (of = domainId) => `/v1/domains/${of}/invitations`
    const invite = (email: string, more: object = {}) => tenancy.call(admin, `POST ${path()}`, { email, ...more })
    const list = async () => (await tenancy.call(admin, `GET ${path()}`)).body['items'] as { email: string }[]
    const codeOf = ({ status, body }: Answer) => [status, body['code']]
    const accept = (email: string, userId = NOWHERE) =>
      tenancy.change((change) =>
        createInvitationBook().accept(change, { domainId, email, userId, at: new Date(tenancy.clock.nowMs) }),
      )

    it('are made for 7 days, with the address in lower case', async () => {
      const answer = await invite('Anna@Acme.Example')
      expect(answer.status).toBe(201)
      const { id } = answer.body
      expect(answer.body).toEqual({
        id,
        domain_id: domainId,
        email: 'anna@acme.example',
        created_by: admin,
        created_at: '2026-03-01T08:00:00.000Z',
        expires_at: '2026-03-08T08:00:00.000Z',
        accepted_at: null,
        accepted_by: null,
      })
      expect(await tenancy.audit(answer)).toEqual({
        relation: 'invitation.create',
        object: `domain:${domainId}`,
        outcome: 'granted',
        reason: 'granted',
        domainId,
      })
      expect((await invite('ben@acme.example', { ttl_seconds: 60 })).body['expires_at']).toBe(
        '2026-03-01T08:01:00.000Z',
      )
    })

    it('are open once for an address, however it is written, and again when they have expired', async () => {
      await invite('anna@acme.example', { ttl_seconds: 60 })
      expect(codeOf(await invite('ANNA@acme.example'))).toEqual([409, 'invitation_already_exists'])
      tenancy.clock.nowMs += 60_000
      expect((await invite('anna@acme.example')).status).toBe(201)
      expect(await list()).toHaveLength(1)
    })

    it('are won by one of many who invite the same address at once', async () => {
      const answers = await Promise.all(Array.from({ length: 6 }, () => invite('race@acme.example')))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409, 409])
    })

    it.each(['', 'nobody', 'a@b', 'anna@acme.example ', `${'a'.repeat(250)}@b.example`, 'a\u0000@acme.example'])(
      'refuse the address %j',
      async (email) => {
        expect(codeOf(await invite(email))).toEqual([400, 'invalid_body'])
        expect(await list()).toEqual([])
      },
    )

    it('are used up by the first arrival with that address', async () => {
      await invite('anna@acme.example')
      const user = tenancy.ids.next()
      const taken = await Promise.all([accept('anna@acme.example', user), accept('anna@acme.example', user)])
      expect(taken.toSorted()).toEqual([false, true])
      expect(await list()).toMatchObject([{ accepted_at: '2026-03-01T08:00:00.000Z', accepted_by: `user:${user}` }])
      expect((await invite('anna@acme.example')).status).toBe(201)
    })

    it('let nobody in after their end, with another address, or elsewhere', async () => {
      await tenancy.call(tenancy.root, `POST ${path(tenancy.home)}`, { email: 'cara@acme.example' })
      await invite('anna@acme.example', { ttl_seconds: 60 })
      expect(await accept('ben@acme.example')).toBe(false)
      expect(await accept('cara@acme.example')).toBe(false)
      tenancy.clock.nowMs += 60_000
      expect(await accept('anna@acme.example')).toBe(false)
    })

    it('can be taken back while they are open, in their own Domain', async () => {
      const { body: mine } = await invite('anna@acme.example')
      const take = (id: unknown, of = domainId) => tenancy.call(tenancy.root, `DELETE ${path(of)}/${String(id)}`)
      expect(codeOf(await take(mine['id'], tenancy.home))).toEqual([404, 'invitation_not_found'])
      const answer = await take(mine['id'])
      expect(answer.status).toBe(204)
      expect(await tenancy.audit(answer)).toMatchObject({ relation: 'invitation.revoke', outcome: 'granted' })
      expect(await accept('anna@acme.example')).toBe(false)
      const { body: used } = await invite('anna@acme.example')
      await accept('anna@acme.example')
      expect(codeOf(await take(used['id']))).toEqual([404, 'invitation_not_found'])
    })

    it('are the business of those who manage the Domain', async () => {
      const operator = await tenancy.holder(domainId, 'operator', `domain:${domainId}`)
      const answers = [
        await tenancy.call(operator, `POST ${path()}`, { email: 'anna@acme.example' }),
        await tenancy.call(operator, `GET ${path()}`),
        await tenancy.call(operator, `DELETE ${path()}/${NOWHERE}`),
      ]
      expect(answers.map(({ status }) => status)).toEqual([403, 403, 403])
      expect(await list()).toEqual([])
    })

    it('go 30 days after their end, accepted or not', async () => {
      await invite('anna@acme.example', { ttl_seconds: 60 })
      await invite('ben@acme.example', { ttl_seconds: 60 })
      await accept('ben@acme.example')
      await invite('cara@acme.example')
      const job = createInvitationSweeper(tenancy)
      tenancy.clock.nowMs += 60_000 + 30 * DAY_MS
      expect(await job.run(unfenced(tenancy))).toBe(false)
      expect(await list()).toHaveLength(3)
      tenancy.clock.nowMs += 1
      await job.run(unfenced(tenancy))
      expect(await list()).toMatchObject([{ email: 'cara@acme.example' }])
    })
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { STORES } from '../../support/datastores/stores.ts'
import { codeOf, startApprovals, subjectOf, type ApprovalsPlane } from '../../support/server/approvals.ts'
import { START_MS } from '../../support/server/test-backend.ts'

const LEND = 'credentials.lend'

describe.each(STORES)('Approval policies on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let plane: ApprovalsPlane
    let people: string[]
    beforeAll(async () => {
      plane = await startApprovals(store)
      people = [await plane.person('admin'), await plane.person('admin')]
    })
    beforeEach(async () => {
      plane.clock.nowMs = START_MS
      await plane.db.deleteFrom('approval_policies').execute()
    })
    afterAll(() => plane?.stop())

    const path = (of: 'platform' | 'domain') =>
      of === 'platform' ? '/v1/platform/approval-policy' : `/v1/domains/${plane.domainId}/approval-policy`
    const put = (of: 'platform' | 'domain', actions: Record<string, number>, more: object = {}) => {
      const named = Object.entries(actions).map(([action, required_approvals]) => [action, { required_approvals }])
      return plane.call(plane.root, `PUT ${path(of)}`, { actions: Object.fromEntries(named), ...more })
    }
    const effective = async (of: 'platform' | 'domain') => {
      const { body } = await plane.call(plane.root, `GET ${path(of)}`)
      const rows = body['effective'] as { action: string; required_approvals: number; source: string }[]
      return Object.fromEntries(rows.map((row) => [row.action, `${row.required_approvals} ${row.source}`]))
    }
    const requiredOf = async (id: string) =>
      (await plane.call(plane.requester, `GET /v1/approvals/${id}`)).body['required_approvals']

    it('ask for one approval of what is lent, and for none of anything else, where nobody set one', async () => {
      const { body } = await plane.call(plane.root, `GET ${path('domain')}`)
      expect(body).toMatchObject({ actions: {}, effective_ttl_seconds: 604_800 })
      expect(body).not.toHaveProperty('ttl_seconds')
      expect(body).not.toHaveProperty('updated_by')
      expect(await effective('domain')).toMatchObject({
        'clouds.lend': '1 default',
        [LEND]: '1 default',
        'domain.delete': '0 default',
      })
      expect(await effective('domain')).not.toHaveProperty('signing-keys.rotate')
      expect(await effective('platform')).toMatchObject({ 'signing-keys.rotate': '0 default' })
    })

    it('are replaced as a whole, announced and audited', async () => {
      const answer = await put('domain', { [LEND]: 2, 'domain.delete': 1 }, { ttl_seconds: 3600 })
      expect(answer.body).toMatchObject({
        actions: { [LEND]: { required_approvals: 2 }, 'domain.delete': { required_approvals: 1 } },
        ttl_seconds: 3600,
        effective_ttl_seconds: 3600,
        updated_by: plane.root,
        updated_at: '2026-03-01T08:00:00.000Z',
      })
      expect(await plane.outbox(answer)).toEqual([
        {
          event: 'ApprovalPolicyUpdated',
          domain_id: plane.domainId,
          aggregate: `domain:${plane.domainId}`,
          payload: {
            actions: { [LEND]: { required_approvals: 2 }, 'domain.delete': { required_approvals: 1 } },
            ttl_seconds: 3600,
          },
        },
      ])
      expect(await plane.audit(answer)).toMatchObject({
        relation: 'approval_policy.update',
        object: `domain:${plane.domainId}`,
      })
      // Loosening a policy waits for approval: it is taken away first.
      await plane.db.deleteFrom('approval_policies').execute()
      await put('domain', { 'idp.write': 1 })
      const { body } = await plane.call(plane.root, `GET ${path('domain')}`)
      expect(body).toMatchObject({
        actions: { 'idp.write': { required_approvals: 1 } },
        effective_ttl_seconds: 604_800,
      })
      expect(body).not.toHaveProperty('ttl_seconds')
    })

    it('decide how many people approve and for how long a request waits', async () => {
      await put('domain', { [LEND]: 2 }, { ttl_seconds: 3600 })
      const id = await plane.request()
      const { body } = await plane.call(plane.requester, `GET /v1/approvals/${id}`)
      expect(body).toMatchObject({ required_approvals: 2, expires_at: '2026-03-01T09:00:00.000Z' })
      await put('domain', {})
      expect(await requiredOf(id)).toBe(2)
      const [ann = '', ben = ''] = people
      expect((await plane.approve(ann, id)).body['state']).toBe('pending-approval')
      expect((await plane.approve(ben, id)).body['state']).toBe('approved')
    })

    it('of a Domain hold beside that of the platform: the stricter one counts', async () => {
      const third = await plane.person('admin')
      for (const as of [...people, third]) {
        const subject = subjectOf(as)
        await plane.call(plane.root, 'POST /v1/platform/grants', { subject, relation: 'admin' })
      }
      expect((await put('platform', { [LEND]: 2, 'idp.write': 1 }, { ttl_seconds: 7200 })).status).toBe(200)
      expect(await effective('domain')).toMatchObject({ [LEND]: '2 platform', 'idp.write': '1 platform' })
      const refused = await put('domain', { [LEND]: 1, 'domain.delete': 1 })
      expect(codeOf(refused)).toEqual([400, 'invalid_body'])
      expect(refused.body['errors']).toEqual([
        {
          pointer: `/actions/${LEND}/required_approvals`,
          detail: 'must be at least 2, as the policy of the platform asks for',
        },
      ])
      expect((await put('domain', { [LEND]: 3 })).status).toBe(200)
      expect(await effective('domain')).toMatchObject({ [LEND]: '3 domain', 'idp.write': '1 platform' })
      expect(await requiredOf(await plane.request())).toBe(3)
      const { body } = await plane.call(plane.root, `GET ${path('domain')}`)
      expect(body).toMatchObject({ effective_ttl_seconds: 7200 })
      expect(body).not.toHaveProperty('ttl_seconds')
      await plane.db.deleteFrom('approval_policies').where('domain_id', 'is not', null).execute()
      expect(await requiredOf(await plane.request())).toBe(2)
    })

    it('cannot ask for more people than can decide beside the requester', async () => {
      const domainId = await plane.domain()
      const to = `PUT /v1/domains/${domainId}/approval-policy`
      const managers = async () => {
        const { body } = await plane.call(plane.root, to, { actions: { [LEND]: { required_approvals: 5 } } })
        expect(body).toMatchObject({ code: 'too_few_approvers', needed: 6 })
        return Number(body['approvers'])
      }
      const before = await managers()
      const ann = await plane.holder(domainId, 'admin', `domain:${domainId}`)
      await plane.holder(domainId, 'operator', `domain:${domainId}`)
      expect(await managers()).toBe(before + 1)
      const service = await plane.principal(domainId, 'service-identity')
      await plane.change(({ tuples }) =>
        tuples.create(
          { subject: service, relation: 'admin', resource: `domain:${domainId}` },
          { domainId, projectId: null },
        ),
      )
      expect(await managers()).toBe(before + 1)
      const disabled_at = new Date(START_MS)
      await plane.db.updateTable('principals').set({ disabled_at }).where('id', '=', ann.slice(5)).execute()
      expect(await managers()).toBe(before)
      const enough = { actions: { [LEND]: { required_approvals: before - 1 } } }
      expect((await plane.call(plane.root, to, enough)).status).toBe(200)
      const tooMany = { actions: { [LEND]: { required_approvals: before } } }
      expect(codeOf(await plane.call(plane.root, to, tooMany))).toEqual([409, 'too_few_approvers'])
    })

    it.each([
      [{ actions: { 'no.such': { required_approvals: 1 } } }],
      [{ actions: { [LEND]: { required_approvals: 0 } } }],
      [{ actions: { [LEND]: { required_approvals: 6 } } }],
      [{ actions: { [LEND]: {} } }],
      [{ actions: { 'signing-keys.rotate': { required_approvals: 1 } } }],
      [{ actions: {}, ttl_seconds: 3599 }],
      [{ actions: {}, ttl_seconds: 2_592_001 }],
      [{}],
    ])('of a Domain are refused as %j', async (body) => {
      expect(codeOf(await plane.call(plane.root, `PUT ${path('domain')}`, body))).toEqual([400, 'invalid_body'])
      expect((await plane.call(plane.root, `GET ${path('domain')}`)).body['actions']).toEqual({})
    })

    it('are the business of those who manage the place', async () => {
      const viewer = await plane.person('viewer')
      expect((await plane.call(viewer, `GET ${path('domain')}`)).status).toBe(200)
      const ann = await plane.person('admin')
      const refusals = [
        await plane.call(viewer, `PUT ${path('domain')}`, { actions: {} }),
        await plane.call(ann, `PUT ${path('platform')}`, { actions: {} }),
        await plane.call(ann, `GET ${path('platform')}`),
      ]
      expect(refusals.map(({ status }) => status)).toEqual([403, 403, 403])
    })
  })
})

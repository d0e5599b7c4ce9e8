import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Answer } from '../../support/server/control-plane.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { startTenancy, type Tenancy } from '../../support/server/tenancy.ts'

describe.each(STORES)('Policies under an approval policy on the $name store', (store) => {
  describe.skipIf(store.missing)('that names policies.write', () => {
    let tenancy: Tenancy
    let domainId: string
    let ann: string
    let ben: string
    beforeAll(async () => {
      tenancy = await startTenancy(store, { surfaces: ['approvals', 'approvalPolicies', 'policies'] })
      domainId = await tenancy.domain()
      ann = await person()
      ben = await person()
      const actions = { 'policies.write': { required_approvals: 1 } }
      const set = await tenancy.call(ann, `PUT /v1/domains/${domainId}/approval-policy`, { actions })
      expect(set.status).toBe(200)
    })
    afterAll(() => tenancy?.stop())

    async function person(): Promise<string> {
      const subject = await tenancy.holder(domainId, 'admin', `domain:${domainId}`)
      const presentedAs = `browser.${subject}`
      tenancy.callers.add(subject, domainId, { presentedAs })
      return presentedAs
    }
    const approve = async (held: Answer) => {
      expect(held.status).toBe(202)
      const id = String(held.headers.get('location')).replace('/v1/approvals/', '')
      return (await tenancy.call(ben, `POST /v1/approvals/${id}/approve`, {})).body
    }
    const policies = async () =>
      (await tenancy.call(ben, `GET /v1/domains/${domainId}/policies`)).body['items'] as readonly {
        readonly id: string
        readonly display_name: string
        readonly revision_id: string
      }[]
    async function patch(id: string, display_name: string, ifMatch: string): Promise<Answer> {
      const response = await fetch(`${tenancy.url}/v1/policies/${id}`, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${ann}`, 'content-type': 'application/json', 'if-match': ifMatch },
        body: JSON.stringify({ display_name }),
      })
      await response.arrayBuffer()
      return { status: response.status, headers: response.headers, body: {} }
    }

    /** What a call does that was not held. */
    async function reviseElsewhere(id: string): Promise<void> {
      const next = tenancy.ids.next()
      await sql`
        insert into policy_revisions
        select ${next}, policy_id, domain_id, number + 1, display_name, selector, document, rules, fingerprint, created_by,
          created_at
        from policy_revisions where policy_id = ${id}`.execute(tenancy.db)
      await tenancy.db.updateTable('policies').set({ revision_id: next }).where('id', '=', id).execute()
    }

    it('wait for a second person, and are refused then where somebody changed the policy meanwhile', async () => {
      const body = { slug: 'held', selector: '*', rules: [] }
      const created = await tenancy.call(ann, `POST /v1/domains/${domainId}/policies`, body)
      expect(await policies()).toEqual([])
      expect(await approve(created)).toMatchObject({ state: 'approved' })
      const [policy] = await policies()
      if (policy === undefined) throw new Error('no policy was created')
      const stale = await patch(policy.id, 'Stale', `"${policy.revision_id}"`)
      await reviseElsewhere(policy.id)
      expect(await approve(stale)).toMatchObject({ state: 'failed', outcome: 'policy_stale' })
    })

    it('refuse at once what would be refused later', async () => {
      const body = { slug: 'bad', selector: 'unknown', rules: [] }
      const { status } = await tenancy.call(ann, `POST /v1/domains/${domainId}/policies`, body)
      expect(status).toBe(400)
    })
  })
})

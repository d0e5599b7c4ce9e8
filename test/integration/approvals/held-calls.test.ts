import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { STORES } from '../../support/datastores/stores.ts'
import { ENGINE_KINDS, isEngineMissing, useSpicedb } from '../../support/authz/engines.ts'
import { codeOf, subjectOf } from '../../support/server/approvals.ts'
import type { Answer } from '../../support/server/control-plane.ts'
import { startTenancy, type Tenancy } from '../../support/server/tenancy.ts'
import { START_MS } from '../../support/server/test-backend.ts'

const SURFACES = ['approvals', 'approvalPolicies', 'adminTokens'] as const
const DAY_MS = 86_400_000

const PLACES = STORES.flatMap((store) => ENGINE_KINDS.map((engine) => ({ store, engine, name: store.name })))

describe.each(PLACES)('Held calls on the $name store with the $engine engine', ({ store, engine }) => {
  describe.skipIf(store.missing || isEngineMissing(engine))('', () => {
    const spicedb = useSpicedb(engine)
    let tenancy: Tenancy
    let domainId: string
    let ann: string
    let ben: string
    beforeAll(async () => {
      tenancy = await startTenancy(store, { surfaces: SURFACES }, spicedb())
    })
    beforeEach(async () => {
      tenancy.clock.nowMs = START_MS
      domainId = await tenancy.domain()
      ann = await person('admin')
      ben = await person('admin')
    })
    afterAll(() => tenancy?.stop())

    async function person(relation?: string): Promise<string> {
      const subject = await (relation === undefined
        ? tenancy.principal(domainId)
        : tenancy.holder(domainId, relation, `domain:${domainId}`))
      const presentedAs = `browser.${subject}`
      tenancy.callers.add(subject, domainId, { presentedAs })
      return presentedAs
    }
    const policy = (actions: object, as = ann) =>
      tenancy.call(as, `PUT /v1/domains/${domainId}/approval-policy`, { actions })
    const holdAdmins = () => policy({ 'access.admin': { required_approvals: 1 } })
    const grant = (as: string, subject: string, relation = 'admin') =>
      tenancy.call(as, `POST /v1/domains/${domainId}/grants`, { subject: subjectOf(subject), relation })
    const approvalOf = (answer: Answer) => String(answer.headers.get('location')).replace('/v1/approvals/', '')
    const approve = (as: string, answer: Answer) =>
      tenancy.call(as, `POST /v1/approvals/${approvalOf(answer)}/approve`, {})
    const rolesOf = async (subject: string) =>
      (await tenancy.tuplesOf(subjectOf(subject))).filter((tuple) => tuple.endsWith(`domain:${domainId}`)).length
    const isKept = async (answer: Answer) =>
      (
        await sql`select 1 from held_calls where sealed is not null and approval_id = ${approvalOf(answer)}`.execute(
          tenancy.db,
        )
      ).rows.length > 0

    it('are answered with 202 and change nothing, until somebody else approves: then they are made as their requester', async () => {
      await holdAdmins()
      const cid = await person()
      const held = await grant(ann, cid)
      expect([held.status, held.body]).toEqual([202, {}])
      expect(held.headers.get('location')).toMatch(/^\/v1\/approvals\/[0-9a-f-]{36}$/)
      expect(await isKept(held)).toBe(true)
      const before = await rolesOf(cid)
      expect(await tenancy.audit(held)).toEqual({
        relation: 'approval.request',
        object: subjectOf(cid),
        outcome: 'granted',
        reason: 'granted',
        domainId,
      })
      expect((await tenancy.call(ben, `GET /v1/approvals/${approvalOf(held)}`)).body).toMatchObject({
        kind: 'held_call',
        object: subjectOf(cid),
        domain_id: domainId,
        state: 'pending-approval',
        requested_by: subjectOf(ann),
        required_approvals: 1,
        action: {
          name: 'access.admin',
          operation: 'CreateDomainGrant',
          summary: `Make ${subjectOf(cid)} admin of domain:${domainId}.`,
        },
      })
      expect(codeOf(await approve(ann, held))).toEqual([403, 'self_approval_denied'])
      const approved = await approve(ben, held)
      expect([approved.status, approved.body['state']]).toEqual([200, 'approved'])
      expect(await rolesOf(cid)).toBe(before + 1)
      const { rows } = await sql<{ subject: string; context: object }>`
        select subject, context from audit where relation = 'domain_grant.create' and domain_id = ${domainId}`.execute(
        tenancy.db,
      )
      expect(rows).toEqual([
        {
          subject: subjectOf(ann),
          context: { approval_id: approvalOf(held), approved_by: [subjectOf(ben)] },
        },
      ])
      expect(await isKept(held)).toBe(false)
    })

    it('are shown with the names of now to who sees them, and with names of another Domain to readers of the platform alone', async () => {
      await holdAdmins()
      const { slug } = (await tenancy.call(ann, `GET /v1/domains/${domainId}`)).body
      const rename = (subject: string, display_name: string) =>
        tenancy.db
          .updateTable('principals')
          .set({ display_name })
          .where('id', '=', subjectOf(subject).replace(/^[a-z]+:/, ''))
          .execute()
      const deployer = await tenancy.principal(domainId, 'service-identity')
      const ends = (subject: string) => subjectOf(subject).slice(-8)
      await rename(deployer, 'Deployer (user:00000000)')
      await rename(ann, 'Ann')
      await rename(ben, 'Ben')
      const held = await grant(ann, deployer)
      const seenBy = async (as: string, answer = held) =>
        (await tenancy.call(as, `GET /v1/approvals/${approvalOf(answer)}`)).body
      const sentence = `Make Deployer [user:00000000] (service:${ends(deployer)}) admin of the Domain ${String(slug)}.`
      expect(await seenBy(ben)).toMatchObject({
        requested_by_name: 'Ann',
        action: { summary: `Make ${deployer} admin of domain:${domainId}.`, sentence },
      })
      await rename(deployer, 'Runner')
      const { body } = await tenancy.call(ben, 'GET /v1/approvals?state=pending-approval&role=decider')
      const mine = (body['items'] as readonly Record<string, unknown>[]).find(({ id }) => id === approvalOf(held))
      expect(mine).toMatchObject({
        requested_by_name: 'Ann',
        action: { sentence: sentence.replace('Deployer [user:00000000]', 'Runner') },
      })
      expect((await approve(ben, held)).body['decisions']).toMatchObject([
        { subject: subjectOf(ben), subject_name: 'Ben' },
      ])

      const elsewhere = await tenancy.domain()
      const guest = await tenancy.holder(elsewhere, 'admin', `domain:${domainId}`)
      await rename(guest, 'Guest')
      const ofGuest = await grant(guest, await person())
      expect((await seenBy(ben, ofGuest))['requested_by_name']).toBe(null)
      expect((await seenBy(tenancy.root, ofGuest))['requested_by_name']).toBe('Guest')
    })

    it('are those alone that the policy names: a lesser role, and another Domain, do not wait', async () => {
      await holdAdmins()
      expect((await grant(ann, await person(), 'viewer')).status).toBe(201)
      const elsewhere = await tenancy.domain()
      const admin = await tenancy.holder(elsewhere, 'admin', `domain:${elsewhere}`)
      const other = await tenancy.principal(elsewhere)
      const answer = await tenancy.call(admin, `POST /v1/domains/${elsewhere}/grants`, {
        subject: other,
        relation: 'admin',
      })
      expect(answer.status).toBe(201)
    })

    it('are found whatever way makes somebody a manager: a group that manages takes no member at once', async () => {
      const outer = await tenancy.group(domainId)
      const inner = await tenancy.group(domainId)
      const root = tenancy.root
      const nest = (member: string, group: string) =>
        tenancy.call(ann, `PUT /v1/domains/${domainId}/groups/${group}/members/${encodeURIComponent(member)}`)
      expect((await nest(`group:${inner}#member`, outer)).status).toBe(204)
      await tenancy.call(root, `POST /v1/domains/${domainId}/grants`, {
        subject: `group:${outer}#member`,
        relation: 'admin',
      })
      await holdAdmins()
      const cid = await person()
      const held = await nest(subjectOf(cid), inner)
      expect(held.status).toBe(202)
      expect(codeOf(await nest(subjectOf(cid), outer))).toEqual([409, 'approval_pending'])
      expect((await approve(ben, held)).body['state']).toBe('approved')
      expect(await tenancy.tuplesOf(subjectOf(cid))).toContain(`${subjectOf(cid)} member group:${inner}`)
      // Who manages already gains nothing.
      expect((await nest(subjectOf(ben), inner)).status).toBe(204)
    })

    it('refuse a group of the identity provider where two people decide who manages', async () => {
      const made = await tenancy.call(ann, `POST /v1/domains/${domainId}/groups`, {
        slug: 'mirrored',
        display_name: 'Mirrored',
        provider_group: 'admins',
      })
      const user = await tenancy.principal(domainId)
      await tenancy.change(({ tuples }) =>
        tuples
          .create(
            { subject: user, relation: 'member', resource: `group:${String(made.body['id'])}` },
            { domainId, projectId: null },
          )
          .then(() => undefined),
      )
      await holdAdmins()
      const answer = await tenancy.call(ann, `POST /v1/domains/${domainId}/grants`, {
        subject: `group:${String(made.body['id'])}#member`,
        relation: 'admin',
      })
      expect(codeOf(answer)).toEqual([409, 'group_managed_by_provider'])
    })

    it('are checked before they wait, and one of an object waits at a time', async () => {
      await holdAdmins()
      const cid = await person()
      expect(codeOf(await grant(await person(), cid))).toEqual([403, 'permission_denied'])
      expect(codeOf(await grant(ann, ben))).toEqual([409, 'tuple_already_exists'])
      expect((await grant(ann, cid)).status).toBe(202)
      expect(codeOf(await grant(ben, cid))).toEqual([409, 'approval_pending'])
      expect((await grant(ben, await person())).status).toBe(202)
    })

    it('end with their content when they are rejected', async () => {
      await holdAdmins()
      const cid = await person()
      const held = await grant(ann, cid)
      const before = await rolesOf(cid)
      const rejected = await tenancy.call(ben, `POST /v1/approvals/${approvalOf(held)}/reject`, { reason: 'No' })
      expect(rejected.body['state']).toBe('rejected')
      expect([await rolesOf(cid), await isKept(held)]).toEqual([before, false])
      expect((await grant(ann, cid)).status).toBe(202)
    })

    it('cannot be approved once their requester may not make them', async () => {
      await holdAdmins()
      const held = await grant(ann, await person())
      const mine = (
        (await tenancy.call(ben, `GET /v1/domains/${domainId}/grants`)).body['items'] as {
          id: string
          subject: string
        }[]
      ).find(({ subject }) => subject === subjectOf(ann))
      await tenancy.call(ben, `DELETE /v1/domains/${domainId}/grants/${mine?.id}`)
      expect(codeOf(await approve(ben, held))).toEqual([409, 'approval_stale'])
    })

    it('fail with the code of their refusal where they cannot be made any more', async () => {
      await holdAdmins()
      const cid = await person()
      const held = await grant(ann, cid)
      await tenancy.change(({ tuples }) =>
        tuples
          .create(
            { subject: subjectOf(cid), relation: 'admin', resource: `domain:${domainId}` },
            { domainId, projectId: null },
          )
          .then(() => undefined),
      )
      const approved = await approve(ben, held)
      expect([approved.body['state'], approved.body['outcome']]).toEqual(['failed', 'tuple_already_exists'])
      expect(await isKept(held)).toBe(false)
    })

    it('are opened to their requester where the answer shows a secret: once, for the same call, within a day', async () => {
      await policy({ 'admin-tokens.issue': { required_approvals: 1 } })
      const service = await tenancy.principal(domainId, 'service-identity')
      const identity_ref = service.replace('serviceaccount:', 'service:')
      const issue = (as: string, body: object, approval?: string) =>
        fetch(`${tenancy.url}/v1/admin/tokens`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${as}`,
            'content-type': 'application/json',
            ...(approval !== undefined && { 'x-approval-id': approval }),
          },
          body: JSON.stringify(body),
        })
      const held = await tenancy.call(ann, 'POST /v1/admin/tokens', { identity_ref, name: 'ci' })
      expect(held.status).toBe(202)
      const id = approvalOf(held)
      const outcome = async (response: Promise<Response>) => {
        const { status, ...answer } = await response
        return status === 201
          ? [201]
          : [status, ((await (await response).json()) as { code: string }).code, answer].slice(0, 2)
      }
      expect(await outcome(issue(ann, { identity_ref, name: 'ci' }, id))).toEqual([409, 'approval_pending'])
      await approve(ben, held)
      expect(await outcome(issue(ben, { identity_ref, name: 'ci' }, id))).toEqual([404, 'approval_not_found'])
      expect(await outcome(issue(ann, { identity_ref, name: 'other' }, id))).toEqual([409, 'approval_stale'])
      const tries = await Promise.all(
        Array.from({ length: 10 }, () => outcome(issue(ann, { name: 'ci', identity_ref }, id))),
      )
      expect(tries.filter(([status]) => status === 201)).toHaveLength(1)
      expect(tries.filter(([, code]) => code === 'approval_stale')).toHaveLength(9)
    })

    it('that were opened are closed after a day', async () => {
      await policy({ 'admin-tokens.issue': { required_approvals: 1 } })
      const service = await tenancy.principal(domainId, 'service-identity')
      const body = { identity_ref: service.replace('serviceaccount:', 'service:'), name: 'ci' }
      const held = await tenancy.call(ann, 'POST /v1/admin/tokens', body)
      await approve(ben, held)
      tenancy.clock.nowMs += DAY_MS
      const late = await fetch(`${tenancy.url}/v1/admin/tokens`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${ann}`,
          'content-type': 'application/json',
          'x-approval-id': approvalOf(held),
        },
        body: JSON.stringify(body),
      })
      expect([late.status, ((await late.json()) as { code: string }).code]).toEqual([409, 'approval_stale'])
    })

    it('hold a token for somebody who manages, and none for others', async () => {
      await policy({ 'access.takeover': { required_approvals: 1 } })
      const issue = (subject: string) =>
        tenancy.call(ann, 'POST /v1/admin/tokens', { identity_ref: subjectOf(subject), name: 'x' })
      expect((await issue(await person())).status).toBe(201)
      const held = await issue(ben)
      expect(held.status).toBe(202)
      expect((await tenancy.call(ben, `GET /v1/approvals/${approvalOf(held)}`)).body).toMatchObject({
        object: subjectOf(ben),
        action: { name: 'access.takeover' },
      })
    })

    it('hold a token for a platform administrator under the policy of any Domain', async () => {
      await policy({ 'access.takeover': { required_approvals: 2 } })
      const elsewhere = await tenancy.domain()
      const cid = await tenancy.holder(elsewhere, 'admin', 'platform:main')
      const held = await tenancy.call(tenancy.root, 'POST /v1/admin/tokens', { identity_ref: cid, name: 'x' })
      expect(held.status).toBe(202)
      const { body } = await tenancy.call(tenancy.root, `GET /v1/approvals/${approvalOf(held)}`)
      expect(body).toMatchObject({ object: cid, required_approvals: 2 })
    })

    it('replace no policy that was set after the request', async () => {
      expect((await holdAdmins()).status).toBe(200)
      tenancy.clock.nowMs += 1_000
      const held = await policy({})
      tenancy.clock.nowMs += 1_000
      const tighter = { 'access.admin': { required_approvals: 1 }, 'secrets.delete': { required_approvals: 1 } }
      expect((await policy(tighter)).status).toBe(200)
      expect((await approve(ben, held)).body).toMatchObject({ state: 'failed', outcome: 'approval_stale' })
      const now = await tenancy.call(ann, `GET /v1/domains/${domainId}/approval-policy`)
      expect(now.body['actions']).toEqual(tighter)
    })

    it('hold a policy that asks for less, for as many approvals as it asked for before', async () => {
      const cid = await person('admin')
      expect((await policy({ 'access.admin': { required_approvals: 2 } })).status).toBe(200)
      expect(
        (await policy({ 'access.admin': { required_approvals: 2 }, 'idp.write': { required_approvals: 1 } })).status,
      ).toBe(200)
      tenancy.clock.nowMs += 1_000
      const held = await policy({ 'idp.write': { required_approvals: 1 } })
      expect(held.status).toBe(202)
      expect((await approve(ben, held)).body).toMatchObject({
        state: 'pending-approval',
        required_approvals: 2,
        action: { name: 'approval-policies.loosen' },
      })
      expect((await approve(cid, held)).body['state']).toBe('approved')
      const now = await tenancy.call(ann, `GET /v1/domains/${domainId}/approval-policy`)
      expect(now.body['actions']).toEqual({ 'idp.write': { required_approvals: 1 } })
    })

    it('are made by a job where the server crashed after the decision, once', async () => {
      await holdAdmins()
      const cid = await person()
      const held = await grant(ann, cid)
      const before = await rolesOf(cid)
      const at = new Date(tenancy.clock.nowMs)
      await sql`update approvals set state = 'approved', ended_at = ${at} where id = ${approvalOf(held)}`.execute(
        tenancy.db,
      )
      await tenancy.runJob('held-calls')
      expect(await rolesOf(cid)).toBe(before)
      tenancy.clock.nowMs += 11_000
      await Promise.all([tenancy.runJob('held-calls'), tenancy.runJob('held-calls')])
      expect(await rolesOf(cid)).toBe(before + 1)
      const { body } = await tenancy.call(ann, `GET /v1/approvals/${approvalOf(held)}`)
      expect(body).toMatchObject({ state: 'approved' })
      expect(await isKept(held)).toBe(false)
    })

    it('are not made for a requester who may not act any more', async () => {
      await holdAdmins()
      const cid = await person()
      const held = await grant(ann, cid)
      const before = await rolesOf(cid)
      const disabled = sql`update principals set disabled_at = now() where id = ${subjectOf(ann).slice('user:'.length)}`
      await disabled.execute(tenancy.db)
      expect(codeOf(await approve(ben, held))).toEqual([409, 'approval_stale'])
      expect(await rolesOf(cid)).toBe(before)
    })

    it('cannot be passed by two changes that make somebody a manager together', async () => {
      await holdAdmins()
      for (let round = 0; round < 5; round++) {
        const group = await tenancy.group(domainId)
        const cid = await person()
        const [joined, granted] = await Promise.all([
          tenancy.call(
            ann,
            `PUT /v1/domains/${domainId}/groups/${group}/members/${encodeURIComponent(subjectOf(cid))}`,
          ),
          tenancy.call(ben, `POST /v1/domains/${domainId}/grants`, {
            subject: `group:${group}#member`,
            relation: 'admin',
          }),
        ])
        expect([joined.status === 204 && granted.status === 201, joined.status, granted.status].slice(0, 1)).toEqual([
          false,
        ])
        const held = [joined, granted].find(({ status }) => status === 202)
        if (held !== undefined) {
          await tenancy.call(held === joined ? ann : ben, `POST /v1/approvals/${approvalOf(held)}/withdraw`)
        }
      }
    })

    it('are made once by 20 approvals at a time', async () => {
      await holdAdmins()
      const people = await Promise.all(Array.from({ length: 20 }, () => person('admin')))
      const cid = await person()
      const held = await grant(ann, cid)
      const before = await rolesOf(cid)
      const answers = await Promise.all(people.map((one) => approve(one, held)))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      expect(answers.filter(({ body }) => body['code'] === 'illegal_transition')).toHaveLength(19)
      expect(await rolesOf(cid)).toBe(before + 1)
    })
  })
})

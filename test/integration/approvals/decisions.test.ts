import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { problem } from '../../../src/shared/problems.ts'
import { STORES } from '../../support/datastores/stores.ts'
import {
  addAccount,
  codeOf,
  expectPending,
  startApprovals,
  subjectOf,
  type ApprovalsPlane,
} from '../../support/server/approvals.ts'
import { START_MS } from '../../support/server/test-backend.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const DAY_MS = 86_400_000

describe.each(STORES)('Approvals on the $name store', (store) => {
  describe.skipIf(store.missing)('are decided', () => {
    let plane: ApprovalsPlane
    let ann: string
    let ben: string
    let viewer: string
    let stranger: string
    beforeAll(async () => {
      plane = await startApprovals(store)
      ann = await plane.person('admin')
      ben = await plane.person('admin')
      viewer = await plane.person('viewer')
      stranger = await plane.person()
    })
    beforeEach(() => {
      plane.clock.nowMs = START_MS
      plane.refusal = undefined
    })
    afterAll(() => plane?.stop())

    const show = (as: string, id: string) => plane.call(as, `GET /v1/approvals/${id}`)

    it('by somebody else, in person: the request is carried out, announced and audited', async () => {
      const id = await plane.request({ reason: 'For the release' })
      plane.clock.nowMs += 60_000
      const answer = await plane.approve(ann, id, { reason: 'As agreed' })
      expect(answer.status).toBe(200)
      const { object } = answer.body
      expect(answer.body).toEqual({
        id,
        kind: 'thing',
        object,
        domain_id: plane.domainId,
        state: 'approved',
        requested_by: plane.requester,
        // People of these tests are called by their reference.
        requested_by_name: plane.requester,
        requested_at: '2026-03-01T08:00:00.000Z',
        expires_at: '2026-03-08T08:00:00.000Z',
        reason: 'For the release',
        required_approvals: 1,
        decisions: [
          {
            subject: subjectOf(ann),
            subject_name: subjectOf(ann),
            decision: 'approve',
            reason: 'As agreed',
            at: '2026-03-01T08:01:00.000Z',
          },
        ],
        action: {
          name: 'credentials.lend',
          operation: 'RequestThing',
          summary: 'Lend a thing to a Project',
          sentence: 'Lend a thing to a Project',
        },
      })
      expect((await show(plane.requester, id)).body).toEqual(answer.body)
      expect(await plane.thing(id)).toEqual({ state: 'approved', carried: 1 })
      expect(await plane.outbox(answer)).toEqual([
        {
          event: 'ApprovalApproved',
          domain_id: plane.domainId,
          aggregate: `approval:${id}`,
          payload: {
            approval_id: id,
            kind: 'thing',
            object,
            action: 'credentials.lend',
            requested_by: plane.requester,
            approved_by: [subjectOf(ann)],
          },
        },
      ])
      expect(await plane.audit(answer)).toEqual({
        relation: 'approval.approve',
        object: `approval:${id}`,
        outcome: 'granted',
        reason: 'granted',
        domainId: plane.domainId,
      })
    })

    it('once: what has ended has no further move', async () => {
      const id = await plane.request()
      await plane.approve(ann, id)
      expect(codeOf(await plane.approve(ben, id))).toEqual([409, 'illegal_transition'])
      expect(codeOf(await plane.reject(ben, id))).toEqual([409, 'illegal_transition'])
      expect(codeOf(await plane.withdraw(plane.requester, id))).toEqual([409, 'illegal_transition'])
      expect(await plane.thing(id)).toEqual({ state: 'approved', carried: 1 })
    })

    it('against the request by one rejection, with a reason', async () => {
      const id = await plane.request()
      for (const reason of ['', '   ', 'x'.repeat(1025)]) {
        expect(codeOf(await plane.reject(ann, id, reason))).toEqual([400, 'invalid_decision_reason'])
      }
      expect(codeOf(await plane.approve(ann, id, { reason: ' ' }))).toEqual([400, 'invalid_decision_reason'])
      await expectPending(plane, id)
      const answer = await plane.reject(ann, id, 'Not this week')
      expect(answer.body).toMatchObject({
        state: 'rejected',
        decisions: [{ subject: subjectOf(ann), decision: 'reject', reason: 'Not this week' }],
      })
      expect(await plane.thing(id)).toEqual({ state: 'rejected', carried: 100 })
      expect(await plane.outbox(answer)).toMatchObject([
        { event: 'ApprovalRejected', payload: { rejected_by: subjectOf(ann) } },
      ])
      expect(codeOf(await plane.approve(ben, id))).toEqual([409, 'illegal_transition'])
    })

    it('never by the requester, whatever it holds and whatever credential it presents', async () => {
      const requestedBy = subjectOf(ann)
      const id = await plane.request({ requestedBy })
      const own = await plane.call(ann, 'POST /v1/auth/tokens', { name: 'own' })
      const issued = await plane.call(plane.root, 'POST /v1/admin/tokens', {
        identity_ref: requestedBy,
        name: 'issued',
      })
      for (const as of [ann, requestedBy, String(own.body['token']), String(issued.body['token'])]) {
        const answer = await plane.approve(as, id)
        expect(codeOf(answer)).toEqual([403, 'self_approval_denied'])
        expect(await plane.audit(answer)).toMatchObject({
          outcome: 'permission_denied',
          reason: 'self_approval_denied',
        })
        expect(codeOf(await plane.reject(as, id))).toEqual([403, 'self_approval_denied'])
      }
      await expectPending({ ...plane, requester: requestedBy }, id)
    })

    it('with a token that the decider made for itself, and never with one that somebody else issued', async () => {
      const made = await plane.call(ann, 'POST /v1/auth/tokens', { name: 'own' })
      const rotated = await plane.call(
        String(made.body['token']),
        `POST /v1/auth/tokens/${String(made.body['id'])}/rotate`,
        {},
      )
      const ofOwn = await plane.call(String(rotated.body['token']), 'POST /v1/auth/tokens', { name: 'of a token' })
      for (const { body } of [made, rotated, ofOwn]) {
        const id = await plane.request()
        expect((await plane.approve(String(body['token']), id)).status).toBe(200)
      }
      const id = await plane.request()
      const issue = { identity_ref: subjectOf(ann), name: 'issued' }
      const issued = await plane.call(plane.root, 'POST /v1/admin/tokens', issue)
      const token = String(issued.body['token'])
      const descended = await plane.call(token, 'POST /v1/auth/tokens', { name: 'made with an issued token' })
      const turned = await plane.call(token, `POST /v1/auth/tokens/${String(issued.body['id'])}/rotate`, {
        grace_seconds: 600,
      })
      const taken = await plane.call(plane.root, `POST /v1/admin/tokens/${String(ofOwn.body['id'])}/rotate`, {})
      for (const { status, body } of [issued, descended, turned, taken]) {
        expect([200, 201]).toContain(status)
        const answer = await plane.approve(String(body['token']), id)
        expect(answer.body).toMatchObject({
          code: 'permission_denied',
          reason: 'out_of_scope',
          missing_relation: { subject: subjectOf(ann), relation: 'manage', object: `domain:${plane.domainId}` },
        })
        expect(answer.status).toBe(403)
        expect((await plane.reject(String(body['token']), id)).body['reason']).toBe('out_of_scope')
      }
      await expectPending(plane, id)
    })

    it('by people, not by service identities', async () => {
      const id = await plane.request()
      const service = await plane.principal(plane.domainId, 'service-identity')
      await plane.change(({ tuples }) =>
        tuples.create(
          { subject: service, relation: 'admin', resource: `domain:${plane.domainId}` },
          { domainId: plane.domainId, projectId: null },
        ),
      )
      const presentedAs = `session.${service}`
      plane.callers.add(service, plane.domainId, { presentedAs })
      for (const as of [service, presentedAs]) {
        const answer = await plane.approve(as, id)
        expect([answer.status, answer.body['reason']]).toEqual([403, 'insufficient_relation'])
      }
      await expectPending(plane, id)
    })

    it('by those who may: readers are refused, and strangers are answered as for an id that does not exist', async () => {
      const id = await plane.request()
      for (const decide of [plane.approve, plane.reject] as const) {
        const refused = await decide(viewer, id)
        expect([refused.status, refused.body['reason']]).toEqual([403, 'insufficient_relation'])
        const hidden = await decide(stranger, id)
        const unknown = await decide(stranger, NOWHERE)
        expect(codeOf(hidden)).toEqual([404, 'approval_not_found'])
        expect({ ...hidden.body, correlation_id: '' }).toEqual({ ...unknown.body, correlation_id: '' })
        expect(await plane.audit(hidden)).toMatchObject({ outcome: 'permission_denied' })
      }
      expect((await show(viewer, id)).status).toBe(200)
      expect(codeOf(await show(stranger, id))).toEqual([404, 'approval_not_found'])
      expect(codeOf(await plane.approve(ann, 'x'))).toEqual([400, 'invalid_approval_id'])
      await expectPending(plane, id)
    })

    it('not after the end of the request, although no job has ended it yet', async () => {
      const id = await plane.request()
      plane.clock.nowMs += 7 * DAY_MS
      expect(codeOf(await plane.approve(ann, id))).toEqual([409, 'illegal_transition'])
      expect(codeOf(await plane.withdraw(plane.requester, id))).toEqual([409, 'illegal_transition'])
      await expectPending(plane, id)
    })

    it('not for a requester who is disabled or gone', async () => {
      const gone = await plane.principal(plane.domainId)
      const id = await plane.request({ requestedBy: gone })
      const principals = (set: { disabled_at: Date | null }) =>
        plane.db.updateTable('principals').set(set).where('id', '=', gone.slice('user:'.length)).execute()
      await principals({ disabled_at: new Date(START_MS) })
      expect(codeOf(await plane.approve(ann, id))).toEqual([409, 'approval_stale'])
      await principals({ disabled_at: null })
      await expectPending({ ...plane, requester: gone }, id)
      expect((await plane.approve(ann, id)).status).toBe(200)
    })

    it('with every check of the request: what its kind refuses leaves it pending, and nothing written', async () => {
      const id = await plane.request()
      plane.refusal = problem('approval_stale')
      const answer = await plane.approve(ann, id)
      expect(codeOf(answer)).toEqual([409, 'approval_stale'])
      expect(await plane.outbox(answer)).toEqual([])
      await expectPending(plane, id)
      expect((await show(ann, id)).body['decisions']).toEqual([])
      plane.refusal = undefined
      expect((await plane.approve(ann, id)).status).toBe(200)
    })

    it('not by somebody whose account another one has changed since the request', async () => {
      const cara = await plane.person('admin')
      await addAccount(plane, subjectOf(cara))
      const change = (at: number) =>
        plane.db
          .updateTable('local_accounts')
          .set({ changed_by_other_at: new Date(at) })
          .where('principal_id', '=', subjectOf(cara).slice('user:'.length))
          .execute()
      const [before, rejected] = [await plane.request(), await plane.request()]
      await change(START_MS - 1)
      expect((await plane.reject(cara, rejected)).status).toBe(200)
      plane.clock.nowMs += 1_000
      await change(plane.clock.nowMs)
      expect(codeOf(await plane.approve(cara, before))).toEqual([403, 'self_approval_denied'])
      expect(codeOf(await plane.reject(cara, before))).toEqual([403, 'self_approval_denied'])
      await expectPending(plane, before)
      plane.clock.nowMs += 1_000
      expect((await plane.approve(cara, await plane.request())).status).toBe(200)
      expect((await plane.approve(ben, before)).status).toBe(200)
    })
  })
})

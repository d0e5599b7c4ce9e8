import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApprovalQueue } from '../../../src/server/slices/approvals/queue.ts'
import { createApprovalSweeper } from '../../../src/server/slices/approvals/approval-sweeper.ts'
import { unfenced } from '../../support/datastores/leading.ts'
import { STORES } from '../../support/datastores/stores.ts'
import {
  codeOf,
  expectPending,
  startApprovals,
  subjectOf,
  type ApprovalsPlane,
} from '../../support/server/approvals.ts'
import { START_MS } from '../../support/server/test-backend.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

describe.each(STORES)('The approvals queue on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let plane: ApprovalsPlane
    let ann: string
    beforeAll(async () => {
      plane = await startApprovals(store)
      ann = await plane.person('admin')
    })
    beforeEach(async () => {
      plane.clock.nowMs = START_MS
      await plane.db.deleteFrom('approvals').execute()
    })
    afterAll(() => plane?.stop())

    const rows = (id: string) =>
      plane.db
        .selectFrom('audit')
        .select(['subject', 'relation', 'outcome', 'domain_id', 'context'])
        .where('object', '=', `approval:${id}`)
        .execute()
    const events = (id: string) =>
      plane.db
        .selectFrom('outbox')
        .select(['event', 'payload'])
        .where('aggregate', '=', `approval:${id}`)
        .orderBy('id')
        .execute()
    const stateOf = async (id: string) => (await plane.call(ann, `GET /v1/approvals/${id}`)).body['state']
    const list = async (as: string, query = '') =>
      ((await plane.call(as, `GET /v1/approvals${query}`)).body['items'] as { id: string }[]).map(({ id }) => id)

    it('announces a request, which waits for 7 days', async () => {
      const id = await plane.request()
      expect(await events(id)).toEqual([
        {
          event: 'ApprovalRequested',
          payload: {
            approval_id: id,
            kind: 'thing',
            object: expect.stringMatching(/^thing:/),
            action: 'credentials.lend',
            requested_by: plane.requester,
          },
        },
      ])
      plane.clock.nowMs += 7 * DAY_MS - 1
      expect(await plane.expire()).toBe(false)
      await expectPending(plane, id)
    })

    it('ends what nobody decided in time, as the system, with an audit row and an event', async () => {
      const [id, other] = [await plane.request(), await plane.request({ nowMs: START_MS + HOUR_MS })]
      plane.clock.nowMs += 7 * DAY_MS
      await plane.expire()
      await plane.expire()
      expect(await plane.thing(id)).toEqual({ state: 'expired', carried: 100 })
      expect(await stateOf(id)).toBe('expired')
      await expectPending(plane, other)
      expect((await events(id)).map(({ event }) => event)).toEqual(['ApprovalRequested', 'ApprovalExpired'])
      expect(await rows(id)).toEqual([
        {
          subject: 'system:approvals',
          relation: 'approval.expire',
          outcome: 'granted',
          domain_id: plane.domainId,
          context: { kind: 'thing', about: expect.stringMatching(/^thing:/) },
        },
      ])
    })

    it('goes on with the others where one cannot be ended, and reports it', async () => {
      const broken = await plane.request({ kind: 'of another version' })
      const id = await plane.request()
      plane.clock.nowMs += 7 * DAY_MS
      await expect(plane.expire()).rejects.toThrow('no slice has approvals of the kind of another version')
      expect(await stateOf(id)).toBe('expired')
      expect(await stateOf(broken)).toBe('pending-approval')
    })

    it('is left by the requester alone, with an event', async () => {
      const id = await plane.request()
      const stranger = await plane.person()
      const refusedAnn = await plane.withdraw(ann, id)
      expect([refusedAnn.status, refusedAnn.body['reason']]).toEqual([403, 'insufficient_relation'])
      expect(codeOf(await plane.withdraw(stranger, id))).toEqual([404, 'approval_not_found'])
      const answer = await plane.withdraw(plane.requester, id)
      expect(answer.body).toMatchObject({ id, state: 'withdrawn', decisions: [] })
      expect(await plane.thing(id)).toEqual({ state: 'withdrawn', carried: 100 })
      expect((await events(id)).at(-1)).toMatchObject({
        event: 'ApprovalWithdrawn',
        payload: { withdrawn_by: plane.requester },
      })
      expect(await plane.audit(answer)).toMatchObject({ relation: 'approval.withdraw', object: `approval:${id}` })
    })

    it('is left by the system for what is going away, in that change, without a call of the kind', async () => {
      const queue = createApprovalQueue(plane)
      const [one, two, decided] = [await plane.request(), await plane.request(), await plane.request()]
      await plane.approve(ann, decided)
      await plane.change((change) => queue.withdraw(change, [one, decided], START_MS))
      expect([await stateOf(one), await stateOf(two), await stateOf(decided)]).toEqual([
        'withdrawn',
        'pending-approval',
        'approved',
      ])
      expect(await plane.thing(one)).toEqual({ state: 'requested', carried: 0 })
      expect(await rows(one)).toMatchObject([
        { subject: 'system:approvals', relation: 'approval.withdraw', outcome: 'granted', domain_id: plane.domainId },
      ])
      expect((await events(one)).at(-1)).toMatchObject({
        event: 'ApprovalWithdrawn',
        payload: { withdrawn_by: 'system:approvals' },
      })
      await plane.change((change) => queue.withdraw(change, [], START_MS))
      expect(await stateOf(two)).toBe('pending-approval')
    })

    it('is left with the Project and with the Domain that are deleted, and keeps what was decided', async () => {
      const domainId = await plane.domain()
      const projectId = await plane.project(domainId)
      const ofProject = { domainId, projectId, decide: { relation: 'manage', object: `project:${projectId}` } }
      const [pending, decided] = [await plane.request(ofProject), await plane.request(ofProject)]
      const ofDomain = await plane.request({ domainId, decide: { relation: 'manage', object: `domain:${domainId}` } })
      const presentedAs = `browser.${plane.root}`
      plane.callers.add(plane.root, plane.home, { presentedAs })
      expect((await plane.approve(presentedAs, decided)).status).toBe(200)
      const deleted = await plane.call(plane.root, `DELETE /v1/projects/${projectId}`)
      expect(deleted.status).toBe(204)
      const show = async (id: string) => (await plane.call(plane.root, `GET /v1/approvals/${id}`)).body
      expect(await show(pending)).toMatchObject({ state: 'withdrawn', domain_id: domainId })
      expect(await show(pending)).not.toHaveProperty('project_id')
      expect(await show(decided)).toMatchObject({ state: 'approved' })
      expect(await rows(pending)).toMatchObject([{ subject: 'system:approvals', domain_id: domainId }])
      const gone = await plane.call(plane.root, `DELETE /v1/domains/${domainId}`)
      expect(gone.status).toBe(204)
      expect(await show(ofDomain)).toMatchObject({ state: 'withdrawn' })
      expect(await show(ofDomain)).not.toHaveProperty('domain_id')
    })

    it('takes one pending request for an action on an object', async () => {
      const object = 'thing:only'
      const queue = createApprovalQueue(plane)
      const ask = () =>
        plane.change((change) =>
          queue.request(change, {
            kind: 'thing',
            object,
            action: 'domain.delete',
            operation: 'DeleteThing',
            summary: 'Delete it',
            domainId: plane.domainId,
            projectId: null,
            requestedBy: plane.requester,
            decide: { relation: 'manage', object: `domain:${plane.domainId}` },
            nowMs: START_MS,
          }),
        )
      const asked = await Promise.allSettled(Array.from({ length: 8 }, ask))
      expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const codes = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
      expect(codes).toEqual(Array(7).fill('approval_pending'))
    })

    it('shows each request to its requester, to those who decide it and to readers of its place, newest first', async () => {
      const projectId = await plane.project(plane.domainId)
      const viewer = await plane.person('viewer')
      const ofProject = await plane.holder(plane.domainId, 'viewer', `project:${projectId}`)
      const stranger = await plane.person()
      const inDomain = await plane.request()
      const inProject = await plane.request({ projectId })
      const platform = { domainId: null, decide: { relation: 'manage', object: 'platform:main' } }
      const ofPlatform = await plane.request({ ...platform, requestedBy: subjectOf(ann) })
      expect(await list(plane.root)).toEqual([ofPlatform, inProject, inDomain])
      expect(await list(ann)).toEqual([ofPlatform, inProject, inDomain])
      expect(await list(viewer)).toEqual([inProject, inDomain])
      expect(await list(ofProject)).toEqual([inProject])
      expect(await list(plane.requester)).toEqual([inProject, inDomain])
      expect(await list(stranger)).toEqual([])
    })

    it('lists by state, kind, place and role', async () => {
      const projectId = await plane.project(plane.domainId)
      const one = await plane.request()
      const two = await plane.request({ projectId })
      const mine = await plane.request({ requestedBy: subjectOf(ann) })
      await plane.reject(ann, one)
      expect(await list(ann, '?state=rejected')).toEqual([one])
      expect(await list(ann, '?state=pending-approval')).toEqual([mine, two])
      expect(await list(ann, `?project_id=${projectId}`)).toEqual([two])
      expect(await list(ann, `?domain_id=${plane.domainId}&kind=thing`)).toEqual([mine, two, one])
      expect(await list(ann, '?kind=other')).toEqual([])
      expect(await list(ann, '?role=requester')).toEqual([mine])
      expect(await list(ann, '?role=decider')).toEqual([two, one])
      expect(await list(await plane.person('viewer'), '?role=decider')).toEqual([])
      expect(codeOf(await plane.call(ann, 'GET /v1/approvals?state=waiting'))).toEqual([400, 'invalid_state'])
      expect(codeOf(await plane.call(ann, 'GET /v1/approvals?role=owner'))).toEqual([400, 'invalid_query'])
    })

    it('has cursors that belong to their caller', async () => {
      for (const _ of [1, 2, 3]) await plane.request()
      const { body } = await plane.call(ann, 'GET /v1/approvals?limit=1')
      const next = `GET /v1/approvals?limit=1&cursor=${String(body['next_cursor'])}`
      expect((await plane.call(ann, next)).status).toBe(200)
      expect(codeOf(await plane.call(plane.root, next))).toEqual([403, 'cursor_binding_mismatch'])
    })

    it('forgets what ended longer ago than audit rows are kept, and nothing that waits', async () => {
      const [ended, pending] = [await plane.request(), await plane.request()]
      await plane.approve(ann, ended)
      const sweep = (nowMs: number) => createApprovalSweeper({ now: () => nowMs }, 30).run(unfenced(plane))
      await sweep(START_MS + 30 * DAY_MS)
      expect(await stateOf(ended)).toBe('approved')
      await sweep(START_MS + 30 * DAY_MS + 1)
      expect(await stateOf(ended)).toBeUndefined()
      expect(await stateOf(pending)).toBe('pending-approval')
    })
  })
})

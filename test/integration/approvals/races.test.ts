import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { STORES } from '../../support/datastores/stores.ts'
import type { Answer } from '../../support/server/control-plane.ts'
import { codeOf, startApprovals, subjectOf, type ApprovalsPlane } from '../../support/server/approvals.ts'
import { START_MS } from '../../support/server/test-backend.ts'

const LATER_MS = 8 * 86_400_000

describe.each(STORES)('Concurrent moves of approvals on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let plane: ApprovalsPlane
    let people: string[]
    beforeAll(async () => {
      plane = await startApprovals(store)
      people = []
      for (let at = 0; at < 20; at += 1) people.push(await plane.person('admin'))
    })
    beforeEach(() => {
      plane.clock.nowMs = START_MS
    })
    afterAll(() => plane?.stop())

    const require = async (approvals: number) => {
      // A policy that asks for less than the one before would itself wait for approval.
      await plane.db.deleteFrom('approval_policies').execute()
      return plane.call(plane.root, `PUT /v1/domains/${plane.domainId}/approval-policy`, {
        actions: { 'credentials.lend': { required_approvals: approvals } },
      })
    }
    const succeeded = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 200)
    const refused = (answers: readonly Answer[]) =>
      new Set(
        answers
          .filter(({ status }) => status !== 200)
          .map(codeOf)
          .map(String),
      )

    it('of 20 people who approve at once, one carries the request out', async () => {
      const id = await plane.request()
      const answers = await Promise.all(people.map((as) => plane.approve(as, id)))
      expect(succeeded(answers)).toHaveLength(1)
      expect(refused(answers)).toEqual(new Set(['409,illegal_transition']))
      expect(await plane.thing(id)).toEqual({ state: 'approved', carried: 1 })
    })

    it.each([2, 5])(
      'where %i people have to approve, as many of 20 do, and the last one carries it out',
      async (needed) => {
        await require(needed)
        const id = await plane.request()
        const answers = await Promise.all(people.map((as) => plane.approve(as, id)))
        expect(succeeded(answers)).toHaveLength(needed)
        expect(refused(answers)).toEqual(new Set(['409,illegal_transition']))
        expect(
          succeeded(answers)
            .map(({ body }) => body['state'])
            .toSorted(),
        ).toEqual(['approved', ...Array.from({ length: needed - 1 }, () => 'pending-approval')])
        const { body } = await plane.call(plane.requester, `GET /v1/approvals/${id}`)
        expect(body).toMatchObject({ state: 'approved', required_approvals: needed })
        expect(body['decisions']).toHaveLength(needed)
        expect(await plane.thing(id)).toEqual({ state: 'approved', carried: 1 })
      },
    )

    it('one person counts once, however often and with whatever credentials it approves at once', async () => {
      await require(2)
      const id = await plane.request()
      const [ann = ''] = people
      const own = await plane.call(ann, 'POST /v1/auth/tokens', { name: 'own' })
      const credentials = [ann, String(own.body['token'])]
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, at) => plane.approve(credentials[at % 2] ?? ann, id)),
      )
      expect(succeeded(answers)).toHaveLength(1)
      expect(refused(answers)).toEqual(new Set(['409,illegal_transition']))
      expect(await plane.thing(id)).toEqual({ state: 'requested', carried: 0 })
      const { body } = await plane.call(plane.requester, `GET /v1/approvals/${id}`)
      expect(body).toMatchObject({ state: 'pending-approval', decisions: [{ subject: subjectOf(ann) }] })
    })

    it('of approval, rejection, withdrawal and expiry, one ends the request', async () => {
      await require(1)
      const [ann = '', ben = ''] = people
      for (let round = 0; round < 10; round += 1) {
        plane.clock.nowMs = START_MS
        const id = await plane.request()
        const [approved, rejected, withdrawn] = await Promise.all([
          plane.approve(ann, id),
          plane.reject(ben, id),
          plane.withdraw(plane.requester, id),
          plane.expire(),
        ])
        expect(succeeded([approved, rejected, withdrawn])).toHaveLength(1)
        expect(refused([approved, rejected, withdrawn])).toEqual(new Set(['409,illegal_transition']))
        const { state, carried } = await plane.thing(id)
        const { body } = await plane.call(ann, `GET /v1/approvals/${id}`)
        expect(body['state']).toBe(state)
        expect(carried).toBe(state === 'approved' ? 1 : 100)
      }
    })

    it('of two jobs that expire and people who are late, one job ends each request', async () => {
      const ids = [await plane.request(), await plane.request(), await plane.request()]
      plane.clock.nowMs += LATER_MS
      const [ann = ''] = people
      plane.callers.add(subjectOf(ann), plane.domainId, { presentedAs: ann })
      const late = await Promise.all([
        ...ids.map((id) => plane.approve(ann, id)),
        ...ids.map((id) => plane.withdraw(plane.requester, id)),
        plane.expire(),
        plane.expire(),
      ])
      expect(late.slice(0, 6).map((answer) => codeOf(answer as Answer)[1])).toEqual(Array(6).fill('illegal_transition'))
      await plane.expire()
      for (const id of ids) expect(await plane.thing(id)).toEqual({ state: 'expired', carried: 100 })
    })
  })
})

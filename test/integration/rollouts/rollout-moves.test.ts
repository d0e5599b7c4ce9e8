import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Answer } from '../../support/server/control-plane.ts'
import type { Enrolled } from '../../support/fleet/fleet.ts'
import { addRelease } from '../../support/releases/add-release.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { startRolloutFleet, type RolloutFleet } from '../../support/fleet/rollout-fleet.ts'
import { startTenancy } from '../../support/server/tenancy.ts'

const MOVES = ['start', 'pause', 'resume', 'cancel'] as const
type Status = 'pending' | 'running' | 'paused' | 'halted' | 'completed' | 'cancelled'

/** Moves that lead to a status, and what may be done in it. */
const STATUSES: readonly (readonly [Status, readonly (typeof MOVES)[number][]])[] = [
  ['pending', ['start', 'cancel']],
  ['running', ['pause', 'cancel']],
  ['paused', ['resume', 'cancel']],
  ['halted', []],
  ['completed', []],
  ['cancelled', []],
]

describe.each(STORES)('Moves of rollouts on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let fleet: RolloutFleet
    let startMs: number
    let domain: string
    let node: Enrolled
    beforeAll(async () => {
      fleet = await startRolloutFleet(store)
      startMs = fleet.clock.nowMs
    })
    beforeEach(async () => {
      fleet.clock.nowMs = startMs
      domain = await fleet.domain()
      node = await fleet.labelled(domain)
    })
    afterAll(() => fleet?.stop())

    const statusOf = async (id: string) => (await fleet.show(id))['status']
    const states = async (id: string) => (await fleet.nodesOf(id)).map(({ state }) => state)
    const remove = (id: string) => fleet.call(fleet.root, `DELETE /v1/rollouts/${id}`)
    async function planned(): Promise<string> {
      return String((await fleet.plan(domain)).body['id'])
    }
    /** A rollout of one node in that status. */
    async function inStatus(status: Status): Promise<string> {
      const id = await planned()
      if (status === 'pending') return id
      await fleet.move(id, 'start')
      await fleet.pass()
      if (status === 'paused') await fleet.move(id, 'pause')
      if (status === 'cancelled') await fleet.move(id, 'cancel')
      if (status === 'halted') await fleet.reportUpgrade(node, 'failed')
      if (status === 'completed') {
        fleet.wait(1_000)
        await fleet.runs(node, '2.0.0')
      }
      await fleet.pass()
      expect(await statusOf(id)).toBe(status)
      return id
    }

    describe.each(STATUSES)('of one that is %s', (status, allowed) => {
      it.each(MOVES.filter((move) => !allowed.includes(move)))('do not include %s', async (move) => {
        const id = await inStatus(status)
        const before = await fleet.show(id)
        const answer = await fleet.move(id, move)
        expect(answer).toMatchObject({
          status: 409,
          body: { code: 'illegal_transition', errors: [{ pointer: '/status', detail: `is ${status}` }] },
        })
        expect(await fleet.show(id)).toEqual(before)
        expect(await fleet.outbox(answer)).toEqual([])
      })

      const isOver = allowed.length === 0
      it(isOver ? 'include its deletion' : 'do not include its deletion', async () => {
        const id = await inStatus(status)
        expect((await remove(id)).status).toBe(isOver ? 204 : 409)
        expect((await fleet.call(fleet.root, `GET /v1/rollouts/${id}`)).status).toBe(isOver ? 404 : 200)
      })
    })

    it('are announced and audited', async () => {
      const id = await planned()
      const audited: unknown[] = []
      const announced: unknown[] = []
      for (const move of ['start', 'pause', 'resume', 'cancel'] as const) {
        const answer = await fleet.move(id, move)
        expect(answer.status).toBe(200)
        audited.push((await fleet.audit(answer))?.relation)
        announced.push(...(await fleet.outbox(answer)).map(({ event, payload }) => [event, payload]))
      }
      const payload = { rollout_id: id, slug: (await fleet.show(id))['slug'], version: '2.0.0' }
      expect(audited).toEqual(['rollout.start', 'rollout.pause', 'rollout.resume', 'rollout.cancel'])
      expect(announced).toEqual([
        ['RolloutStarted', { ...payload, node_count: 1 }],
        ['RolloutCancelled', payload],
      ])
    })

    it('pause: what has begun goes on, and nothing more begins until it is resumed', async () => {
      const second = await fleet.labelled(domain)
      const id = await fleet.started(domain, { max_in_flight: 1 })
      await fleet.pass()
      await fleet.move(id, 'pause')
      const [row] = await fleet.nodesOf(id)
      const first = row?.node_id === node.node_id ? node : second
      fleet.wait(1_000)
      await fleet.runs(first, '2.0.0')
      await fleet.pass()
      expect([await statusOf(id), await states(id)]).toEqual(['paused', ['done', 'pending']])
      await fleet.move(id, 'resume')
      await fleet.pass()
      expect([await statusOf(id), await states(id)]).toEqual(['running', ['done', 'upgrading']])
    })

    it('pause: failures beyond the limit halt it when it is resumed', async () => {
      await fleet.labelled(domain)
      const id = await fleet.started(domain, { max_in_flight: 1 })
      await fleet.pass()
      const [row] = await fleet.nodesOf(id)
      await fleet.move(id, 'pause')
      const path = `/v1/nodes/${row?.node_id}/executions/${row?.execution_id}/cancel`
      await fleet.call(fleet.root, `POST ${path}`)
      await fleet.pass()
      expect([await statusOf(id), await states(id)]).toEqual(['paused', ['failed', 'pending']])
      await fleet.move(id, 'resume')
      await fleet.pass()
      expect([await statusOf(id), await states(id)]).toEqual(['halted', ['failed', 'pending']])
    })

    it('cancel: withdraws what no agent has taken up, and watches what one has', async () => {
      const second = await fleet.labelled(domain)
      const id = await fleet.started(domain)
      await fleet.pass()
      const [taken, waiting] = await fleet.nodesOf(id)
      const first = taken?.node_id === node.node_id ? node : second
      const path = `/v1/nodes/${first.node_id}/executions/${taken?.execution_id}`
      expect((await fleet.call(first.nsk, `POST ${path}`, { status: 'ack' })).status).toBe(204)
      const answer = await fleet.move(id, 'cancel')
      expect(answer.body).toMatchObject({
        status: 'cancelled',
        wave: null,
        progress: [{ counts: { upgrading: 1, skipped: 1 } }],
      })
      expect(await fleet.nodesOf(id)).toMatchObject([
        { state: 'upgrading', reason: null },
        { state: 'skipped', reason: 'The rollout was cancelled before the agent began.' },
      ])
      expect(await fleet.outbox(answer)).toMatchObject([
        { event: 'RolloutCancelled' },
        { event: 'execution_cancelled', payload: { execution_id: waiting?.execution_id } },
      ])
      for (const status of ['started', 'failed']) await fleet.call(first.nsk, `POST ${path}`, { status })
      await fleet.pass()
      expect(await fleet.show(id)).toMatchObject({ status: 'cancelled', failures: 1, wave: null })
    })

    it.each(['start', 'resume'] as const)('%s: refused where the release may no longer be installed', async (move) => {
      const version = `2.3.0-${store.name}.${move}`
      await addRelease(fleet.db, version)
      const id = String((await fleet.plan(domain, { version })).body['id'])
      if (move === 'resume') for (const each of ['start', 'pause'] as const) await fleet.move(id, each)
      await fleet.db
        .updateTable('releases')
        .set({ support_status: 'withdrawn' })
        .where('version', '=', version)
        .execute()
      const before = await fleet.show(id)
      expect(await fleet.move(id, move)).toMatchObject({
        status: 422,
        body: { code: 'release_not_eligible', reason: 'the release was withdrawn' },
      })
      expect(await fleet.show(id)).toEqual(before)
    })

    it('start: refused while a running or paused rollout of the Domain has one of the nodes', async () => {
      const first = await fleet.started(domain)
      const id = await planned()
      const conflict = { status: 409, body: { code: 'rollout_conflict', rollout_id: first } }
      expect(await fleet.move(id, 'start')).toMatchObject(conflict)
      await fleet.move(first, 'pause')
      expect(await fleet.move(id, 'start')).toMatchObject(conflict)
      expect(await fleet.show(id)).toMatchObject({ status: 'pending', node_count: 0 })
      expect(await fleet.nodesOf(id)).toEqual([])
      await fleet.move(first, 'cancel')
      expect((await fleet.move(id, 'start')).status).toBe(200)
    })

    it('start: two at once over the same nodes start one of them', async () => {
      const ids = [await planned(), await planned(), await planned()]
      const answers = await Promise.all(ids.map((id) => fleet.move(id, 'start')))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409])
    })

    it('start: one rollout started by two at once is started once', async () => {
      const id = await planned()
      const answers = await Promise.all([1, 2, 3].map(() => fleet.move(id, 'start')))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409])
      expect(await fleet.nodesOf(id)).toHaveLength(1)
    })

    it('start: beside a rollout of other nodes it runs', async () => {
      const other = await fleet.labelled(domain, { env: 'b' })
      const first = await fleet.started(domain, { selector: 'env=b' })
      const second = await fleet.started(domain, { selector: '!env' })
      await fleet.pass()
      expect([await states(first), await states(second)]).toEqual([['upgrading'], ['upgrading']])
      expect((await fleet.nodesOf(first))[0]?.node_id).toBe(other.node_id)
    })

    it('start: a rollout that selects no node completes', async () => {
      const empty = await fleet.domain()
      const id = await fleet.started(empty)
      await fleet.pass()
      expect(await fleet.show(id)).toMatchObject({ status: 'completed', node_count: 0 })
    })

    it('start: waits for a second person where a policy names rollouts.start', async () => {
      const person = async () => {
        const subject = await fleet.holder(domain, 'admin', `domain:${domain}`)
        const presentedAs = `browser.${subject}`
        fleet.callers.add(subject, domain, { presentedAs })
        return presentedAs
      }
      const [ann, ben] = [await person(), await person()]
      const actions = { 'rollouts.start': { required_approvals: 1 } }
      const set = await fleet.call(ann, `PUT /v1/domains/${domain}/approval-policy`, { actions })
      expect(set.status).toBe(200)
      const id = await planned()
      const held: Answer = await fleet.move(id, 'start', ann)
      expect([held.status, await statusOf(id), await states(id)]).toEqual([202, 'pending', []])
      const approval = String(held.headers.get('location')).replace('/v1/approvals/', '')
      const waiting = await fleet.call(ben, `GET /v1/approvals/${approval}`)
      expect(waiting.body).toMatchObject({
        object: `rollout:${id}`,
        action: { name: 'rollouts.start', operation: 'StartRollout' },
      })
      expect(await fleet.move(id, 'start', ann)).toMatchObject({ status: 409, body: { code: 'approval_pending' } })
      expect((await fleet.move(await planned(), 'start', ann)).status).toBe(202)
      const approved = await fleet.call(ben, `POST /v1/approvals/${approval}/approve`, {})
      expect(approved.body).toMatchObject({ state: 'approved' })
      expect([await statusOf(id), await states(id)]).toEqual(['running', ['pending']])
      expect((await fleet.move(id, 'pause', ann)).status).toBe(200)
    })
  })

  describe.skipIf(store.missing)('without a registry of releases', () => {
    it('are not provisioned', async () => {
      const tenancy = await startTenancy(store, { surfaces: ['rollouts'] })
      try {
        const domain = await tenancy.domain()
        const body = { slug: 'r', version: '2.0.0', selector: '*' }
        expect(await tenancy.call(tenancy.root, `POST /v1/domains/${domain}/rollouts`, body)).toMatchObject({
          status: 501,
          body: { code: 'artifacts_not_provisioned' },
        })
      } finally {
        await tenancy.stop()
      }
    })
  })
})

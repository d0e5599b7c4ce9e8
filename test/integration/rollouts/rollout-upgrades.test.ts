import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Enrolled } from '../../support/fleet/fleet.ts'
import { addRelease, checksumOfRelease } from '../../support/releases/add-release.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { startRolloutFleet, type RolloutFleet } from '../../support/fleet/rollout-fleet.ts'

const MINUTE_MS = 60_000

describe.each(STORES)('Upgrades of a rollout on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let fleet: RolloutFleet
    let startMs: number
    let domain: string
    let nodes: Enrolled[]
    beforeAll(async () => {
      fleet = await startRolloutFleet(store)
      startMs = fleet.clock.nowMs
    })
    beforeEach(async () => {
      fleet.clock.nowMs = startMs
      domain = await fleet.domain()
      nodes = []
    })
    afterAll(() => fleet?.stop())

    const add = async (count: number) => {
      for (let n = 0; n < count; n++) nodes.push(await fleet.labelled(domain))
    }
    const one = (nodeId: string): Enrolled => {
      const node = nodes.find(({ node_id }) => node_id === nodeId)
      if (node === undefined) throw new Error(`no node ${nodeId}`)
      return node
    }
    const states = async (id: string) => (await fleet.nodesOf(id)).map(({ wave, state }) => `${wave} ${state}`)
    const upgrading = async (id: string) =>
      (await fleet.nodesOf(id)).filter(({ state }) => state === 'upgrading').map(({ node_id }) => one(node_id))
    /** Time goes by, all nodes stay healthy, and those that upgrade come to the version; the leader sees it. */
    async function succeed(id: string, which?: readonly Enrolled[]) {
      fleet.wait(1_000)
      for (const node of which ?? (await upgrading(id))) {
        await fleet.reportUpgrade(node, 'succeeded')
        await fleet.runs(node, '2.0.0')
      }
      await fleet.pass()
    }
    const firstOf = async (id: string) => {
      const [first] = await upgrading(id)
      if (first === undefined) throw new Error('no node is upgrading')
      return first
    }

    it('are executions of the agents with version and checksum, which the node receives', async () => {
      await add(1)
      const [node] = nodes
      if (node === undefined) throw new Error('no node')
      await fleet.declare(node, 'aarch64')
      const id = await fleet.started(domain)
      await fleet.pass()
      const [row] = await fleet.nodesOf(id)
      const { body } = await fleet.call(fleet.root, `GET /v1/nodes/${node.node_id}/executions`)
      const parameters = { version: '2.0.0', checksum: checksumOfRelease('2.0.0', 'aarch64') }
      expect(body['items']).toEqual([
        {
          execution_id: row?.execution_id,
          node_id: node.node_id,
          action: 'upgrade_agent',
          type: 'builtin',
          parameters,
          status: 'pending',
          requested_by: 'system:rollouts',
          requested_at: '2026-03-01T08:00:00.000Z',
          expires_at: '2026-03-01T08:30:00.000Z',
          started_at: null,
          finished_at: null,
          exit_code: null,
          output: null,
          error: null,
        },
      ])
      const events = await fleet.db
        .selectFrom('outbox')
        .select(['event', 'payload'])
        .where('aggregate', '=', `node:${node.node_id}`)
        .where('event', '=', 'execution_requested')
        .execute()
      expect(events).toMatchObject([{ payload: { execution_id: row?.execution_id, parameters } }])
    })

    it('begin with the canaries, and with a wave when all nodes of the one before have ended', async () => {
      await add(10)
      const id = await fleet.started(domain, { canaries: 2, waves: [{ percent: 50 }, { percent: 100 }] })
      expect(await fleet.show(id)).toMatchObject({ status: 'running', wave: 0, node_count: 10 })
      await fleet.pass()
      const [first, second] = await upgrading(id)
      if (first === undefined || second === undefined) throw new Error('the canaries are not upgrading')
      expect(await states(id)).toEqual([
        '0 upgrading',
        '0 upgrading',
        ...Array(3).fill('1 pending'),
        ...Array(5).fill('2 pending'),
      ])
      await succeed(id, [first])
      expect((await states(id)).slice(0, 3)).toEqual(['0 done', '0 upgrading', '1 pending'])
      await succeed(id, [second])
      expect(await fleet.show(id)).toMatchObject({ wave: 1 })
      expect((await states(id)).slice(1, 6)).toEqual([
        '0 done',
        '1 upgrading',
        '1 upgrading',
        '1 upgrading',
        '2 pending',
      ])
      await succeed(id)
      await succeed(id)
      const ended = await fleet.show(id)
      expect(ended).toMatchObject({
        status: 'completed',
        wave: null,
        failures: 0,
        finished_at: new Date(fleet.clock.nowMs).toISOString(),
        progress: [
          { wave: 0, nodes: 2, counts: { done: 2 } },
          { wave: 1, nodes: 3, counts: { done: 3 } },
          { wave: 2, nodes: 5, counts: { done: 5 } },
        ],
      })
      await fleet.pass()
      expect(await fleet.show(id)).toEqual(ended)
    })

    it('are announced and audited at their end in the name of rollouts', async () => {
      await add(1)
      const id = await fleet.started(domain)
      await fleet.pass()
      await succeed(id)
      const audit = await fleet.db
        .selectFrom('audit')
        .select(['subject', 'relation', 'outcome'])
        .where('object', '=', `rollout:${id}`)
        .where('subject', '=', 'system:rollouts')
        .execute()
      expect(audit).toEqual([{ subject: 'system:rollouts', relation: 'rollout.complete', outcome: 'granted' }])
      const events = await fleet.db
        .selectFrom('outbox')
        .select('event')
        .where('aggregate', '=', `rollout:${id}`)
        .orderBy('id')
        .execute()
      expect(events.map(({ event }) => event)).toEqual(['RolloutCreated', 'RolloutStarted', 'RolloutCompleted'])
    })

    it('are never more at once than the plan allows, soaking nodes included', async () => {
      await add(5)
      const id = await fleet.started(domain, { max_in_flight: 2, soak_seconds: 60 })
      await fleet.pass()
      const before = await upgrading(id)
      expect(before).toHaveLength(2)
      await succeed(id)
      expect((await states(id)).toSorted()).toEqual([...Array(3).fill('1 pending'), ...Array(2).fill('1 soaking')])
      fleet.wait(60_000)
      for (const node of nodes) await fleet.runs(node, before.includes(node) ? '2.0.0' : '1.0.0')
      await fleet.pass()
      expect((await states(id)).toSorted()).toEqual(['1 done', '1 done', '1 pending', '1 upgrading', '1 upgrading'])
    })

    it('count only by a heartbeat after their beginning', async () => {
      await add(1)
      const [node] = nodes
      if (node === undefined) throw new Error('no node')
      await fleet.runs(node, '2.0.0', 'cd'.repeat(32))
      fleet.wait(1_000)
      await fleet.runs(node, '2.0.0', 'cd'.repeat(32))
      const id = await fleet.started(domain)
      await fleet.pass()
      await fleet.pass()
      expect(await states(id)).toEqual(['1 upgrading'])
      fleet.wait(1)
      await fleet.runs(node, '2.0.0')
      await fleet.pass()
      expect(await states(id)).toEqual(['1 done'])
    })

    describe('that soak', () => {
      const SOAK = { soak_seconds: 600, max_failures: 0 }
      let id: string
      let node: Enrolled
      beforeEach(async () => {
        await add(1)
        id = await fleet.started(domain, SOAK)
        await fleet.pass()
        node = await firstOf(id)
        await succeed(id)
      })

      const beats = async (seconds: number, version = '2.0.0', checksum?: string) => {
        for (let passed = 0; passed < seconds; passed += 60) {
          fleet.wait(60_000)
          await fleet.runs(node, version, checksum)
          await fleet.pass()
        }
      }
      const row = async () => (await fleet.nodesOf(id))[0]

      it('are done after that time, and not before', async () => {
        await beats(540)
        fleet.wait(59_999)
        await fleet.pass()
        expect(await row()).toMatchObject({ state: 'soaking' })
        fleet.wait(1)
        await fleet.pass()
        expect(await row()).toMatchObject({ state: 'done', reason: null })
        expect((await fleet.show(id))['status']).toBe('completed')
      })

      it('fail where the node is not healthy meanwhile', async () => {
        fleet.wait(89_999)
        await fleet.pass()
        expect(await row()).toMatchObject({ state: 'soaking' })
        fleet.wait(1)
        await fleet.pass()
        const reason = 'The node was not healthy for as long as it soaks.'
        expect(await row()).toMatchObject({ state: 'failed', reason })
        expect(await fleet.show(id)).toMatchObject({ status: 'halted', failures: 1 })
      })

      it('fail where the node was not healthy while nobody looked', async () => {
        fleet.wait(200_000)
        await fleet.runs(node, '2.0.0')
        fleet.wait(1_000)
        await fleet.pass()
        expect(await row()).toMatchObject({ state: 'failed' })
      })

      it('fail where the node runs another version again', async () => {
        await beats(60, '1.0.0')
        expect(await row()).toMatchObject({
          state: 'failed',
          reason: 'The node ran another version before it had soaked.',
        })
      })

      it('fail where the node runs another binary', async () => {
        await beats(60, '2.0.0', 'cd'.repeat(32))
        expect(await row()).toMatchObject({
          state: 'failed',
          reason: 'The checksum differs from that of the release.',
        })
      })

      it('are skipped where the node is deregistered', async () => {
        await fleet.call(fleet.root, `DELETE /v1/nodes/${node.node_id}`)
        await fleet.pass()
        expect(await row()).toMatchObject({ state: 'skipped', reason: 'The node was deregistered.' })
        expect(await fleet.show(id)).toMatchObject({ status: 'completed', failures: 0 })
      })
    })

    it.each([
      ['failed', undefined, 'The upgrade failed.'],
      ['failed', 'no space left on device', 'The upgrade failed. no space left on device'],
      ['cancelled', 'not now', 'The upgrade was cancelled.'],
    ] as const)('fail where the agent says %s, with %s', async (end, error, reason) => {
      await add(1)
      const id = await fleet.started(domain)
      await fleet.pass()
      await fleet.reportUpgrade(await firstOf(id), end, error)
      await fleet.pass()
      expect(await fleet.nodesOf(id)).toMatchObject([{ state: 'failed', reason }])
      expect((await fleet.show(id))['status']).toBe('halted')
    })

    it('fail where somebody cancels one, and where it times out', async () => {
      await add(2)
      const id = await fleet.started(domain, { max_failures: 2 })
      await fleet.pass()
      const [row] = await fleet.nodesOf(id)
      const path = `/v1/nodes/${row?.node_id}/executions/${row?.execution_id}`
      expect((await fleet.call(fleet.root, `POST ${path}/cancel`)).status).toBe(200)
      fleet.wait(30 * MINUTE_MS)
      await fleet.runJob('execution-timeouts')
      await fleet.pass()
      expect((await fleet.nodesOf(id)).map(({ reason }) => reason)).toEqual([
        'The upgrade was cancelled.',
        'The upgrade timed out.',
      ])
      expect(await fleet.show(id)).toMatchObject({ status: 'completed', failures: 2 })
    })

    it('fail where the node has the version with another checksum', async () => {
      await add(1)
      const id = await fleet.started(domain)
      await fleet.pass()
      fleet.wait(1_000)
      await fleet.runs(await firstOf(id), '2.0.0', 'cd'.repeat(32))
      await fleet.pass()
      expect(await fleet.nodesOf(id)).toMatchObject([
        { state: 'failed', reason: 'The checksum differs from that of the release.' },
      ])
    })

    it('fail where the node has the checksum of another architecture than its own', async () => {
      await add(1)
      const [node] = nodes
      if (node === undefined) throw new Error('no node')
      await fleet.declare(node, 'aarch64')
      const id = await fleet.started(domain)
      await fleet.pass()
      fleet.wait(1_000)
      await fleet.runs(node, '2.0.0', checksumOfRelease('2.0.0', 'x86_64'))
      await fleet.pass()
      expect(await fleet.nodesOf(id)).toMatchObject([{ state: 'failed' }])
    })

    it('fail ten minutes after a success that the node does not show', async () => {
      await add(1)
      const id = await fleet.started(domain)
      await fleet.pass()
      await fleet.reportUpgrade(await firstOf(id), 'succeeded')
      fleet.wait(10 * MINUTE_MS - 1)
      await fleet.pass()
      expect(await states(id)).toEqual(['1 upgrading'])
      fleet.wait(1)
      await fleet.pass()
      expect(await fleet.nodesOf(id)).toMatchObject([
        { state: 'failed', reason: 'The node did not report the version within 10 minutes of the upgrade.' },
      ])
    })

    it('halt with the first failure beyond the limit: nothing more begins, and what runs is watched to its end', async () => {
      await add(8)
      const id = await fleet.started(domain, { max_in_flight: 2, max_failures: 1 })
      await fleet.pass()
      await fleet.reportUpgrade(await firstOf(id), 'failed')
      await fleet.pass()
      expect(await fleet.show(id)).toMatchObject({ status: 'running', failures: 1, halted_reason: null })
      const [second, third] = await upgrading(id)
      if (second === undefined || third === undefined) throw new Error('two nodes should be upgrading')
      await fleet.reportUpgrade(second, 'failed')
      await fleet.pass()
      expect(await fleet.show(id)).toMatchObject({
        status: 'halted',
        failures: 2,
        wave: null,
        halted_reason: '2 of the nodes failed, and 1 may fail.',
      })
      await succeed(id, [third])
      expect((await states(id)).toSorted()).toEqual(['1 done', '1 failed', '1 failed', ...Array(5).fill('1 pending')])
      const audit = await fleet.db
        .selectFrom('audit')
        .select(['relation', 'context'])
        .where('object', '=', `rollout:${id}`)
        .where('subject', '=', 'system:rollouts')
        .execute()
      expect(audit).toEqual([
        { relation: 'rollout.halt', context: { halted_reason: '2 of the nodes failed, and 1 may fail.' } },
      ])
    })

    it('halt where a last failure is beyond the limit, and not otherwise', async () => {
      await add(2)
      const id = await fleet.started(domain, { max_failures: 1 })
      await fleet.pass()
      for (const node of await upgrading(id)) await fleet.reportUpgrade(node, 'failed')
      await fleet.pass()
      expect(await fleet.show(id)).toMatchObject({ status: 'halted', failures: 2 })
    })

    it.each([
      ['withdrawn', { support_status: 'withdrawn' }, 'The nodes cannot be upgraded: the release was withdrawn.'],
      ['found unverified', { verdict: 'unverified' }, 'The nodes cannot be upgraded: the release is not verified.'],
    ] as const)('halt when the release is %s', async (what, set, reason) => {
      const version = `2.1.0-${store.name}.${what.length}`
      await addRelease(fleet.db, version)
      await add(3)
      const id = await fleet.started(domain, { version, max_in_flight: 1 })
      await fleet.pass()
      await fleet.db.updateTable('releases').set(set).where('version', '=', version).execute()
      await fleet.pass()
      expect(await fleet.show(id)).toMatchObject({ status: 'halted', halted_reason: reason, failures: 0 })
      expect(await states(id)).toEqual(['1 upgrading', '1 pending', '1 pending'])
      fleet.wait(1_000)
      await fleet.runs(await firstOf(id), version)
      await fleet.pass()
      expect(await states(id)).toEqual(['1 done', '1 pending', '1 pending'])
    })
  })
})

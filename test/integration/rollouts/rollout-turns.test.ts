import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Enrolled } from '../../support/fleet/fleet.ts'
import { addRelease } from '../../support/releases/add-release.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { startRolloutFleet, type RolloutFleet } from '../../support/fleet/rollout-fleet.ts'

/** A Sunday. */
const START = '2026-03-01T08:00:00.000Z'

describe.each(STORES)('The turns of a rollout on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let fleet: RolloutFleet
    let domain: string
    beforeAll(async () => {
      fleet = await startRolloutFleet(store)
    })
    beforeEach(async () => {
      fleet.clock.nowMs = Date.parse(START)
      domain = await fleet.domain()
    })
    afterAll(() => fleet?.stop())

    const labelled = async (...all: readonly Readonly<Record<string, string>>[]) => {
      const nodes: Enrolled[] = []
      for (const labels of all) nodes.push(await fleet.labelled(domain, labels))
      return nodes
    }
    const add = (count: number) => labelled(...Array.from({ length: count }, () => ({})))
    const stateOf = async (id: string, { node_id }: Enrolled | undefined = {} as Enrolled) => {
      const row = (await fleet.nodesOf(id)).find((each) => each.node_id === node_id)
      return row && (row.reason === null ? row.state : `${row.state}: ${row.reason}`)
    }
    const states = async (id: string) => (await fleet.nodesOf(id)).map(({ state }) => state)
    const relabel = (node: Enrolled | undefined, labels: Readonly<Record<string, string>>) =>
      fleet.call(fleet.root, `PATCH /v1/nodes/${node?.node_id}`, { labels })
    const succeed = async (id: string, nodes: readonly Enrolled[]) => {
      fleet.wait(1_000)
      for (const node of nodes) if ((await stateOf(id, node)) === 'upgrading') await fleet.runs(node, '2.0.0')
      await fleet.pass()
    }

    it('are those of the nodes that match at the start: others are never touched', async () => {
      const [staging, production] = await labelled({ env: 'staging' }, { env: 'production' })
      const elsewhere = await fleet.domain()
      const foreign = await fleet.labelled(elsewhere, { env: 'staging' })
      const id = await fleet.started(domain, { selector: 'env=staging' })
      const late = await fleet.labelled(domain, { env: 'staging' })
      await relabel(production, { env: 'staging' })
      await fleet.pass()
      expect(await fleet.nodesOf(id)).toMatchObject([{ node_id: staging?.node_id, state: 'upgrading' }])
      const touched = await fleet.db
        .selectFrom('executions')
        .select('node_id')
        .where('node_id', 'in', [late.node_id, foreign.node_id, production?.node_id ?? ''])
        .execute()
      expect(touched).toEqual([])
    })

    it('follow the effective label update-group in waves by group; nodes of no wave are not part of it', async () => {
      const nodes = await labelled(
        { 'update-group': 'early' },
        { 'update-group': 'late' },
        {},
        { 'update-group': 'early' },
      )
      const waves = [{ update_group: 'early' }, { update_group: 'late' }]
      const id = await fleet.started(domain, { waves })
      const turns = (await fleet.nodesOf(id)).map(({ node_id, wave }) => `${wave} ${node_id}`).toSorted()
      const [first, second, , fourth] = nodes.map(({ node_id }) => node_id)
      expect(turns).toEqual([`1 ${first}`, `1 ${fourth}`, `2 ${second}`].toSorted())
    })

    it('follow the label of the platform where the Domain has none of its own', async () => {
      while (await fleet.runJob('label-definition-tuples'));
      const [early, other] = await labelled({ 'platform/update-group': 'early' }, {})
      const id = await fleet.started(domain, { waves: [{ update_group: 'early' }, { percent: 100 }] })
      expect((await fleet.nodesOf(id)).map(({ node_id, wave }) => [wave, node_id])).toEqual([
        [1, early?.node_id],
        [2, other?.node_id],
      ])
    })

    it('skip a node whose labels no longer match, and one that is gone', async () => {
      const nodes = await labelled({ env: 'a' }, { env: 'a' }, { env: 'a' })
      const id = await fleet.started(domain, { selector: 'env=a' })
      await relabel(nodes[0], { env: 'b' })
      await fleet.call(fleet.root, `DELETE /v1/nodes/${nodes[1]?.node_id}`)
      await fleet.pass()
      expect(await stateOf(id, nodes[0])).toBe('skipped: The labels of the node no longer match the selector.')
      expect(await stateOf(id, nodes[1])).toBe('skipped: The node was deregistered.')
      expect(await stateOf(id, nodes[2])).toBe('upgrading')
      await succeed(id, nodes)
      expect(await fleet.show(id)).toMatchObject({ status: 'completed', failures: 0, node_count: 3 })
    })

    it('are done where the node runs the release, also where it is out of reach', async () => {
      const [here, away] = await add(2)
      if (here === undefined || away === undefined) throw new Error('no nodes')
      await fleet.runs({ ...away }, '1.0.0')
      fleet.wait(1_000)
      for (const node of [here, away]) await fleet.runs(node, '2.0.0')
      const id = await fleet.started(domain)
      fleet.wait(90_000)
      await fleet.runs(here, '2.0.0')
      await fleet.pass()
      expect([await stateOf(id, here), await stateOf(id, away)]).toEqual(['done', 'done'])
      const executions = fleet.db.selectFrom('executions').select('id').where('domain_id', '=', domain)
      expect(await executions.execute()).toEqual([])
      expect((await fleet.show(id))['status']).toBe('completed')
    })

    it('upgrade a node that has the version with another checksum', async () => {
      const [node] = await add(1)
      fleet.wait(1_000)
      await fleet.runs(node as Enrolled, '2.0.0', 'cd'.repeat(32))
      const id = await fleet.started(domain)
      await fleet.pass()
      expect(await stateOf(id, node)).toBe('upgrading')
    })

    it('skip a newer version, and do not where the plan allows downgrades', async () => {
      const nodes = await add(3)
      fleet.wait(1_000)
      const versions = ['2.0.0', '0.9.0', 'built from a branch']
      for (const [at, version] of versions.entries()) await fleet.runs(nodes[at] as Enrolled, version)
      const id = await fleet.started(domain, { version: '1.0.0' })
      await fleet.pass()
      const found = await Promise.all(nodes.map((node) => stateOf(id, node)))
      expect(found).toEqual(['skipped: The node runs 2.0.0, which is newer.', 'upgrading', 'upgrading'])
      await fleet.move(id, 'cancel')
      const downgrade = await fleet.started(domain, { version: '1.0.0', allow_downgrade: true })
      await fleet.pass()
      expect(await stateOf(downgrade, nodes[0])).toBe('upgrading')
    })

    it('skip a node for whose architecture the release has no binary', async () => {
      const [node] = await add(1)
      await fleet.declare(node as Enrolled, 'riscv64')
      const id = await fleet.started(domain)
      await fleet.pass()
      expect(await stateOf(id, node)).toBe('skipped: The release has no binary for riscv64.')
    })

    describe('of a node that is out of reach', () => {
      let reachable: Enrolled
      let away: Enrolled
      let id: string
      const UNREACHABLE = 'skipped: The node was not reachable when it was its turn.'
      beforeEach(async () => {
        const [first, second] = await add(2)
        ;[reachable, away] = [first as Enrolled, second as Enrolled]
        fleet.wait(90_000)
        await fleet.runs(reachable, '1.0.0')
        id = await fleet.started(domain)
        await fleet.pass()
      })

      it('wait until the others of the wave have ended, and are skipped then without a failure', async () => {
        expect([await stateOf(id, reachable), await stateOf(id, away)]).toEqual(['upgrading', 'pending'])
        await succeed(id, [reachable])
        expect(await stateOf(id, away)).toBe(UNREACHABLE)
        expect(await fleet.show(id)).toMatchObject({ status: 'completed', failures: 0 })
      })

      it('come where it is back in time', async () => {
        await fleet.runs(away, '1.0.0')
        await fleet.pass()
        expect(await stateOf(id, away)).toBe('upgrading')
      })

      it('are skipped where it never reported', async () => {
        const silent = await fleet.enrol(domain)
        const other = await fleet.domain()
        const only = await fleet.enrol(other)
        const alone = await fleet.started(other)
        await fleet.pass()
        expect(await stateOf(alone, only)).toBe(UNREACHABLE)
        expect(await stateOf(id, silent)).toBeUndefined()
      })
    })

    describe('in a maintenance window', () => {
      const window = { time_zone: 'America/New_York', days: [7], from: '22:00', to: '02:00' }

      it('begin while it is open, across midnight, and those that run go on when it closes', async () => {
        const nodes = await add(3)
        const reach = async (instant: string) => {
          fleet.clock.nowMs = Date.parse(instant)
          for (const node of nodes)
            if (['pending', 'upgrading'].includes(String(await stateOf(id, node)))) await fleet.runs(node, '1.0.0')
          await fleet.pass()
        }
        const id = await fleet.started(domain, { window, max_in_flight: 1 })
        await reach('2026-03-02T02:59:59.999Z')
        expect([await states(id), (await fleet.show(id))['waiting_for']]).toEqual([Array(3).fill('pending'), 'window'])
        await reach('2026-03-02T03:00:00.000Z')
        expect([await states(id), (await fleet.show(id))['waiting_for']]).toEqual([
          ['upgrading', 'pending', 'pending'],
          null,
        ])
        await reach('2026-03-02T06:59:58.000Z')
        await succeed(id, nodes)
        expect(await states(id)).toEqual(['done', 'upgrading', 'pending'])
        await reach('2026-03-02T07:00:00.000Z')
        await succeed(id, nodes)
        expect([await states(id), (await fleet.show(id))['waiting_for']]).toEqual([
          ['done', 'done', 'pending'],
          'window',
        ])
        // The clock of New York has gone forward since.
        await reach('2026-03-09T02:00:00.000Z')
        expect(await states(id)).toEqual(['done', 'done', 'upgrading'])
      })

      it('do not come to an end while it is closed', async () => {
        const [node] = await labelled({ env: 'a' })
        const id = await fleet.started(domain, { window, selector: 'env=a' })
        await relabel(node, {})
        await fleet.pass()
        expect(await states(id)).toEqual(['pending'])
      })
    })

    describe('under the capacity target of the Domain', () => {
      it('begin as many as four fifths of it have room for, and leave the rest to others', async () => {
        const nodes = await add(4)
        await fleet.setTarget(domain, 3)
        const blocking = await fleet.enrol(domain)
        const asked = { action: 'ping', type: 'builtin' }
        const path = `/v1/nodes/${blocking.node_id}/executions`
        const ping = await fleet.call(fleet.root, `POST ${path}`, asked)
        const id = await fleet.started(domain)
        await fleet.pass()
        expect((await states(id)).filter((state) => state === 'upgrading')).toHaveLength(1)
        await fleet.pass()
        expect((await fleet.show(id))['waiting_for']).toBe('capacity')
        const other = await fleet.call(fleet.root, `POST ${path}`, asked)
        expect(other).toMatchObject({ status: 201 })
        expect(await fleet.call(fleet.root, `POST ${path}`, asked)).toMatchObject({ status: 429 })
        for (const { body } of [ping, other])
          await fleet.call(fleet.root, `POST ${path}/${String(body['execution_id'])}/cancel`)
        await fleet.pass()
        expect((await states(id)).filter((state) => state === 'upgrading')).toHaveLength(2)
        for (const node of nodes) await fleet.reportUpgrade(node, 'succeeded')
        await fleet.pass()
        expect((await states(id)).filter((state) => state === 'upgrading')).toHaveLength(4)
        expect((await fleet.show(id))['waiting_for']).toBeNull()
      })

      it('begin one at a time with a target of 1, of which four fifths are none', async () => {
        await add(2)
        await fleet.setTarget(domain, 1)
        const id = await fleet.started(domain)
        await fleet.pass()
        expect((await states(id)).toSorted()).toEqual(['pending', 'upgrading'])
      })

      it('are not bounded by a target of 0', async () => {
        await add(3)
        await fleet.setTarget(domain, 0)
        const id = await fleet.started(domain)
        await fleet.pass()
        expect(await states(id)).toEqual(Array(3).fill('upgrading'))
      })
    })

    it('wait for an upgrade that a cancelled rollout has left behind', async () => {
      await addRelease(fleet.db, `2.2.0-${store.name}`)
      const [node] = await add(1)
      const former = await fleet.started(domain)
      await fleet.pass()
      const [row] = await fleet.nodesOf(former)
      const path = `/v1/nodes/${node?.node_id}/executions/${row?.execution_id}`
      for (const status of ['ack', 'started']) await fleet.call(String(node?.nsk), `POST ${path}`, { status })
      await fleet.move(former, 'cancel')
      const id = await fleet.started(domain, { version: `2.2.0-${store.name}` })
      await fleet.pass()
      expect([await states(former), await states(id)]).toEqual([['upgrading'], ['pending']])
      await fleet.call(String(node?.nsk), `POST ${path}`, { status: 'failed' })
      await fleet.pass()
      await fleet.pass()
      expect([await states(former), await states(id)]).toEqual([['failed'], ['upgrading']])
    })
  })
})

import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DatastoreError } from '../../../src/server/ports/datastore.ts'
import { LeadershipLost } from '../../../src/server/ports/leadership-lost.ts'
import type { Leading } from '../../../src/server/ports/leadership.ts'
import { unfenced } from '../../support/datastores/leading.ts'
import { STORES } from '../../support/datastores/stores.ts'
import {
  startCapacityReplicas,
  type CapacityReplica,
  type CapacityReplicas,
} from '../../support/server/capacity-replicas.ts'

describe.each(STORES)('The capacity of Domains on the $name store', (store) => {
  describe.skipIf(store.missing)('as two replicas see it', () => {
    let world: CapacityReplicas
    let one: CapacityReplica
    let other: CapacityReplica
    let domain: string
    beforeAll(async () => {
      world = await startCapacityReplicas(store)
      ;[one, other] = world.replicas
    })
    beforeEach(async () => {
      one.isReadOnly = false
      domain = await world.domain()
    })
    afterAll(() => world.stop())

    const target = (targets: Readonly<Record<string, number | null>>) =>
      world.call(world.root, `PUT /v1/domains/${domain}/capacity/targets`, targets)
    const nodes = async (count: number) => {
      for (let index = 0; index < count; index++) await world.node({ domainId: domain })
    }
    const crossings = async (id = domain) =>
      (
        await world.db
          .selectFrom('audit')
          .select(['subject', 'relation', 'object', 'outcome', 'reason', 'context'])
          .where('domain_id', '=', id)
          .where('subject', '=', 'system:capacity-monitor')
          .execute()
      ).map((row) => ({ ...row }))
    const announced = async () =>
      (
        await world.db
          .selectFrom('outbox')
          .select(['aggregate', 'payload'])
          .where('domain_id', '=', domain)
          .where('event', '=', 'CapacityThresholdCrossed')
          .execute()
      ).map(({ aggregate, payload }) => ({ aggregate, payload }))

    it('is the same: levels, and rates of what either counted', async () => {
      await nodes(2)
      await world.round()
      one.usage.count('sse_fanout', domain, 30)
      other.usage.count('sse_fanout', domain, 15)
      other.usage.count('observability_ingest', domain, 3_000)
      await world.round()
      // The first one sampled before the second one had written.
      await world.round()
      one.usage.count('sse_fanout', domain, 300)
      await one.collector.sample()
      await world.round()
      expect(one.use(domain, 'nodes')?.used).toBe(2)
      expect(other.use(domain, 'nodes')?.used).toBe(2)
      expect(other.use(domain, 'sse_fanout')?.used).toBe(20)
    })

    it('is armed alike while one of them cannot write what it counted, and nothing is lost', async () => {
      await target({ nodes: 5, sse_fanout: 10 })
      await world.round()
      await nodes(4)
      one.isReadOnly = true
      one.usage.count('sse_fanout', domain, 75)
      other.usage.count('sse_fanout', domain, 75)
      await world.round()
      expect([one, other].map((each) => each.use(domain, 'nodes')?.isOver)).toEqual([true, true])
      expect(one.use(domain, 'sse_fanout')?.used).toBe(0)
      expect(other.use(domain, 'sse_fanout')?.used).toBe(5)
      expect(one.reported.length).toBeGreaterThan(0)
      one.isReadOnly = false
      one.usage.count('sse_fanout', domain, 75)
      await world.round()
      // 150 of its own and 75 of the other in two intervals; for the other 150 in one.
      expect(one.use(domain, 'sse_fanout')?.used).toBe(7.5)
      expect(other.use(domain, 'sse_fanout')?.used).toBe(10)
      one.usage.count('sse_fanout', domain, 150)
      await world.round()
      expect([one, other].map((each) => each.use(domain, 'sse_fanout')?.used)).toEqual([10, 10])
      expect([one, other].map((each) => each.use(domain, 'sse_fanout')?.isOver)).toEqual([true, true])
      const { total } = await world.db
        .selectFrom('capacity_totals')
        .select('total')
        .where('domain_id', '=', domain)
        .executeTakeFirstOrThrow()
      expect(Number(total)).toBe(375)
    })

    it('counts how many of them live', async () => {
      await world.round()
      await world.round()
      const alone = store.name === 'embedded'
      expect([one, other].map((each) => each.capacityLimits.liveReplicas())).toEqual(alone ? [1, 1] : [2, 2])
      const third = world.replica()
      third.collector.start()
      await third.collector.stop()
      await world.round()
      expect(one.capacityLimits.liveReplicas()).toBe(alone ? 1 : 2)
    })

    it('begins again where totals fall, as after a restore', async () => {
      one.usage.count('secret_reads', domain, 100)
      await world.round()
      await world.round()
      await world.db.updateTable('capacity_totals').set({ total: '7' }).where('domain_id', '=', domain).execute()
      await world.round()
      expect(other.use(domain, 'secret_reads')?.used).toBe(0)
      other.usage.count('secret_reads', domain, 30)
      await world.round()
      expect(other.use(domain, 'secret_reads')?.used).toBe(2)
    })

    it('does not depend on the clock of the system', async () => {
      await world.round()
      one.usage.count('secret_reads', domain, 30)
      world.clock.nowMs -= 86_400_000
      world.elapsed.ms += 15_000
      await one.collector.sample()
      expect(one.use(domain, 'secret_reads')?.used).toBe(2)
      world.clock.nowMs += 86_400_000
      // Two samples of one moment: there is no time to divide by.
      one.usage.count('secret_reads', domain, 30)
      await one.collector.sample()
      expect(one.use(domain, 'secret_reads')?.used).toBe(2)
    })

    it('ends with a Domain: what it used meanwhile is dropped, and others are counted', async () => {
      const gone = await world.domain()
      await world.round()
      one.usage.count('sse_fanout', gone, 30)
      one.usage.count('sse_fanout', domain, 30)
      const { status } = await world.call(world.root, `DELETE /v1/domains/${gone}`)
      expect(status).toBe(204)
      await world.round()
      expect(one.capacityMonitor.of(gone)).toBeUndefined()
      expect(one.capacityMonitor.all().map(({ domainId }) => domainId)).toContain(domain)
      expect(one.usage.pending()).toEqual([])
      expect(one.use(domain, 'sse_fanout')?.used).toBe(2)
    })

    describe('where the threshold is crossed', () => {
      const row = {
        subject: 'system:capacity-monitor',
        relation: 'capacity.nodes.threshold_crossed',
        outcome: 'granted',
        reason: 'granted',
        context: {},
      }

      it('the leader alone records and announces it, in the chain of the Domain and without the ratio', async () => {
        await target({ nodes: 5 })
        await world.round()
        await nodes(4)
        await world.round()
        await world.round()
        expect(await crossings()).toEqual([])
        await one.lead()
        await one.lead()
        expect(await crossings()).toEqual([{ ...row, object: `domain:${domain}` }])
        expect(await announced()).toEqual([
          { aggregate: `domain:${domain}`, payload: { domain_id: domain, dimension: 'nodes' } },
        ])
        expect([one, other].map((each) => each.use(domain, 'nodes')?.crossings)).toEqual([1, 1])
      })

      it('the next leader does not record it once more', async () => {
        await target({ nodes: 5 })
        await world.round()
        await nodes(4)
        await world.round()
        await one.lead()
        await world.round()
        await other.lead()
        expect(await crossings()).toHaveLength(1)
        expect(await announced()).toHaveLength(1)
      })

      it('the next leader records what the last one did not come to', async () => {
        await target({ nodes: 5 })
        await world.round()
        await nodes(4)
        await world.round()
        await world.round()
        await other.lead()
        expect(await crossings()).toHaveLength(1)
        expect(await announced()).toHaveLength(1)
      })

      it('a restart records it again with its first sample', async () => {
        await target({ nodes: 5 })
        await nodes(4)
        await world.round()
        await one.lead()
        const restarted = world.replica()
        await restarted.collector.sample()
        await restarted.lead()
        expect(await crossings()).toHaveLength(2)
        expect(await announced()).toHaveLength(2)
      })

      it('a row that is refused is counted, and tried again with the next sample', async () => {
        await target({ nodes: 5 })
        await world.round()
        await nodes(4)
        await world.round()
        const leading = unfenced(world)
        const failing: Leading = {
          ...leading,
          unitOfWork: {
            run: async () => {
              throw new DatastoreError('unavailable', undefined, new Error('away'))
            },
          },
        }
        const before = one.crossings.failures()
        await one.lead(failing)
        await one.lead(failing)
        expect(one.crossings.failures()).toBe(before + 1)
        await one.lead()
        expect(await crossings()).toEqual([])
        await world.round()
        await one.lead()
        expect(await crossings()).toHaveLength(1)
        expect(await announced()).toHaveLength(1)
      })

      it('a row that the change went through without counts as refused, and is announced once', async () => {
        await target({ nodes: 5 })
        await world.round()
        await nodes(4)
        await world.round()
        const leading = unfenced(world)
        const before = one.crossings.failures()
        const unaudited: Leading = {
          ...leading,
          unitOfWork: {
            run: (options, work) => leading.unitOfWork.run(options, (change) => work({ ...change, audit() {} })),
          },
        }
        for (let attempts = 0; attempts < 3; attempts++) {
          await one.lead(unaudited)
          await world.round()
        }
        expect(one.crossings.failures()).toBe(before + 3)
        await one.lead()
        expect(await crossings()).toHaveLength(1)
        expect(await announced()).toHaveLength(1)
      })

      it('a leader that has lost its term writes nothing and leaves it to the next one', async () => {
        await target({ nodes: 5 })
        await world.round()
        await nodes(4)
        await world.round()
        const lost: Leading = {
          ...unfenced(world),
          unitOfWork: {
            run: async () => {
              throw new LeadershipLost('the term has ended')
            },
          },
        }
        const before = one.crossings.failures()
        await expect(one.lead(lost)).rejects.toThrow(LeadershipLost)
        expect(one.crossings.failures()).toBe(before)
        await other.lead()
        expect(await crossings()).toHaveLength(1)
        expect(await announced()).toHaveLength(1)
      })

      it('a Domain that is deleted before it is recorded leaves nothing to record', async () => {
        await target({ mediated_sessions: 5 })
        await world.round()
        await sql`update capacity_targets set target = 1 where domain_id = ${domain}`.execute(world.db)
        one.usage.count('secret_reads', domain, 1_000_000)
        await world.round()
        const { status } = await world.call(world.root, `DELETE /v1/domains/${domain}`)
        expect(status).toBe(204)
        await one.lead()
        expect(one.crossings.due().filter(({ domainId }) => domainId === domain)).toEqual([])
        expect(await crossings()).toEqual([])
        expect(await announced()).toEqual([])
      })
    })
  })
})

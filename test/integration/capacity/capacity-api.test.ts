import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { STORES } from '../../support/datastores/stores.ts'
import {
  startCapacityReplicas,
  type CapacityReplica,
  type CapacityReplicas,
} from '../../support/server/capacity-replicas.ts'
import { createHistorySweeper } from '../../../src/server/slices/capacity/history-writer.ts'
import { unfenced } from '../../support/datastores/leading.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

describe.each(STORES)('The capacity of a Domain on the $name store', (store) => {
  describe.skipIf(store.missing)('as it is asked for', () => {
    let world: CapacityReplicas
    let replica: CapacityReplica
    let domain: string
    beforeAll(async () => {
      world = await startCapacityReplicas(store)
      ;[replica] = world.replicas
    })
    beforeEach(async () => {
      domain = await world.domain()
    })
    afterAll(() => world.stop())

    const show = (id = domain) => world.call(world.root, `GET /v1/domains/${id}/capacity`)
    const set = (body: unknown, id = domain) => world.call(world.root, `PUT /v1/domains/${id}/capacity/targets`, body)
    const history = (query: string, id = domain) =>
      world.call(world.root, `GET /v1/domains/${id}/capacity/history?${query}`)

    it('is 503 until the first sample, with the rest of the interval', async () => {
      await world.round()
      const late = await world.domain()
      world.elapsed.ms += 4_200
      const { status, headers, body } = await show(late)
      expect(status).toBe(503)
      expect(body['code']).toBe('capacity_not_sampled')
      expect(headers.get('retry-after')).toBe('11')
    })

    it('has six dimensions in their order, with what the Domain has, and the time of the sample', async () => {
      await world.node({ domainId: domain })
      await world.round()
      const { status, body } = await show()
      expect(status).toBe(200)
      expect(body).toMatchObject({
        domain_id: domain,
        sampled_at: new Date(world.clock.nowMs).toISOString(),
        interval_seconds: 15,
      })
      const plain = { used: 0, ratio: 0, over_threshold: false, days_until_full: null }
      expect(body['dimensions']).toEqual([
        { ...plain, dimension: 'nodes', unit: 'count', used: 1, target: 10_000, ratio: 0.0001, enforced: false },
        { ...plain, dimension: 'sse_fanout', unit: 'events/sec', target: 1_000, enforced: false },
        { ...plain, dimension: 'secret_reads', unit: 'reads/sec', target: 10_000, enforced: false },
        { ...plain, dimension: 'mediated_sessions', unit: 'count', target: 500, enforced: false },
        { ...plain, dimension: 'observability_ingest', unit: 'bytes/sec', target: 5_242_880, enforced: true },
        { ...plain, dimension: 'action_executions', unit: 'count', target: 1_000, enforced: true },
      ])
    })

    it('takes targets, keeps those that are not named, and restores a default', async () => {
      expect((await set({ nodes: 20, sse_fanout: 0 })).status).toBe(200)
      const { body, ...answer } = await set({ sse_fanout: null, action_executions: 7 })
      expect(body).toEqual({
        domain_id: domain,
        targets: [
          { dimension: 'nodes', target: 20, former_target: 20, is_default: false },
          { dimension: 'sse_fanout', target: 1_000, former_target: 0, is_default: true },
          { dimension: 'secret_reads', target: 10_000, former_target: 10_000, is_default: true },
          { dimension: 'mediated_sessions', target: 500, former_target: 500, is_default: true },
          { dimension: 'observability_ingest', target: 5_242_880, former_target: 5_242_880, is_default: true },
          { dimension: 'action_executions', target: 7, former_target: 1_000, is_default: false },
        ],
      })
      expect(await world.outbox(answer)).toEqual([
        {
          event: 'CapacityTargetsUpdated',
          domain_id: domain,
          aggregate: `domain:${domain}`,
          payload: { domain_id: domain, targets: { sse_fanout: null, action_executions: 7 } },
        },
      ])
    })

    it('follows new targets with the next sample', async () => {
      await world.node({ domainId: domain })
      await world.round()
      await set({ nodes: 1, sse_fanout: 0 })
      expect(replica.use(domain, 'nodes')).toMatchObject({ target: 10_000, isOver: false })
      await world.round()
      expect(replica.use(domain, 'nodes')).toMatchObject({ target: 1, ratio: 1, isOver: true, daysUntilFull: 0 })
      expect(replica.use(domain, 'sse_fanout')).toMatchObject({ target: 0, ratio: null, isOver: false })
      expect(replica.capacityLimits.targetOf(domain, 'nodes')).toBe(1)
    })

    it.each([
      ['negative', { nodes: -1 }, '/nodes'],
      ['broken', { sse_fanout: 1.5 }, '/sse_fanout'],
      ['too large for an exact number', { nodes: 9_007_199_254_740_992 }, '/nodes'],
      ['absurd', { nodes: 1e300 }, '/nodes'],
      ['text', { action_executions: '7' }, '/action_executions'],
    ])('refuses a target that is %s', async (_rule, body, pointer) => {
      const refused = await set(body)
      expect(refused.status).toBe(400)
      expect(refused.body).toMatchObject({ code: 'invalid_capacity_target', errors: [{ pointer }] })
    })

    it.each([[{}], [{ memory: 1 }]])('refuses a body without a dimension that it knows: %j', async (body) => {
      const refused = await set(body)
      expect(refused.status).toBe(400)
      expect(refused.body['code']).toBe('invalid_body')
    })

    it('is not there of a Domain that is not', async () => {
      expect((await set({ nodes: 1 }, NOWHERE)).body['code']).toBe('domain_not_found')
    })

    it('keeps the largest sample of each hour and the last target', async () => {
      world.clock.nowMs = Date.parse('2026-04-01T10:59:00.000Z')
      await world.node({ domainId: domain })
      await world.node({ domainId: domain })
      await replica.collector.sample()
      await replica.lead()
      await world.db.deleteFrom('nodes').where('domain_id', '=', domain).execute()
      await set({ nodes: 30 })
      world.clock.nowMs += 30_000
      await replica.collector.sample()
      await replica.lead()
      world.clock.nowMs += 40_000
      await replica.collector.sample()
      await replica.lead()
      const points = [
        { hour: '2026-04-01T10:00:00.000Z', used_max: 2, target: 30 },
        { hour: '2026-04-01T11:00:00.000Z', used_max: 0, target: 30 },
      ]
      const { body } = await history('dimension=nodes')
      expect(body).toEqual({ domain_id: domain, dimension: 'nodes', unit: 'count', points })
      expect((await history('dimension=nodes&since=2026-04-01T10:30:00Z')).body['points']).toEqual([points[1]])
      expect((await history('dimension=nodes&since=2027-01-01T00:00:00Z')).body['points']).toEqual([])
    })

    it.each([
      ['dimension=memory', 'invalid_dimension'],
      ['', 'invalid_dimension'],
      ['dimension=nodes&since=yesterday', 'invalid_capacity_filter'],
    ])('refuses a history of %j', async (query, code) => {
      expect((await history(query)).body['code']).toBe(code)
    })

    describe('over time', () => {
      const kept = (days: number, used: number) => ({
        domain_id: domain,
        dimension: 'nodes',
        hour: new Date(Math.floor((world.clock.nowMs - days * DAY_MS) / HOUR_MS) * HOUR_MS),
        used_max: used,
        target: '100',
      })

      it('says in how many days it is full, by the days that are over', async () => {
        await set({ nodes: 100 })
        const rows = [kept(4, 10), kept(3, 20), kept(2, 30), kept(1, 40), kept(0, 9_000)]
        await world.db.insertInto('capacity_history').values(rows).execute()
        const fresh = world.replica()
        await fresh.collector.sample()
        expect(fresh.use(domain, 'nodes')?.daysUntilFull).toBe(10)
      })

      it('reads the growth once an hour', async () => {
        await set({ nodes: 100 })
        const fresh = world.replica()
        await fresh.collector.sample()
        await world.db
          .insertInto('capacity_history')
          .values([kept(3, 10), kept(2, 20), kept(1, 30)])
          .execute()
        world.elapsed.ms += HOUR_MS - 1
        await fresh.collector.sample()
        expect(fresh.use(domain, 'nodes')?.daysUntilFull).toBeNull()
        world.elapsed.ms += 1
        await fresh.collector.sample()
        expect(fresh.use(domain, 'nodes')?.daysUntilFull).toBe(10)
      })

      it('forgets hours after 35 days', async () => {
        const rows = [kept(36, 1), kept(34, 2)]
        await world.db.insertInto('capacity_history').values(rows).execute()
        const sweeper = createHistorySweeper(world.clock)
        while (await sweeper.run(unfenced(world)));
        const left = await world.db
          .selectFrom('capacity_history')
          .select('used_max')
          .where('domain_id', '=', domain)
          .execute()
        expect(left).toEqual([{ used_max: 2 }])
      })
    })
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  createReachabilitySampler,
  createSamplesSweeper,
} from '../../../src/server/slices/nodes/reachability-sampler.ts'
import { readSamples } from '../../../src/server/slices/nodes/samples-store.ts'
import { createReachabilitySweeper } from '../../../src/server/slices/nodes/reachability-sweeper.ts'
import { startFleet, type Fleet } from '../../support/fleet/fleet.ts'
import { unfenced } from '../../support/datastores/leading.ts'
import { STORES } from '../../support/datastores/stores.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const START_MS = Date.parse('2026-03-01T08:00:00.000Z')
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const NONE = { healthy: 0, stale: 0, unreachable: 0, never_reported: 0 }

describe.each(STORES)('The history of reachability on the $name store', (store) => {
  describe.skipIf(store.missing)('of a Domain', () => {
    let fleet: Fleet
    let domain: string
    beforeAll(async () => {
      fleet = await startFleet(store)
    })
    beforeEach(async () => {
      fleet.clock.nowMs = START_MS
      await fleet.db.deleteFrom('nodes').execute()
      await fleet.db.deleteFrom('reachability_samples').execute()
      domain = await fleet.domain()
    })
    afterAll(() => fleet.stop())

    /** One pass of a replica that has taken no sample yet. */
    const sample = () => createReachabilitySampler(fleet.clock).run(unfenced(fleet))
    const history = (query = '', { id = domain, as = fleet.root } = {}) =>
      fleet.call(as, `GET /v1/domains/${id}/reachability-history?${query}`)
    const samplesOf = ({ body }: { body: Readonly<Record<string, unknown>> }) =>
      body['samples'] as readonly Readonly<Record<string, unknown>>[]
    const instantsOf = (answer: { body: Readonly<Record<string, unknown>> }) => samplesOf(answer).map(({ at }) => at)
    const keep = (id: string, ...agesMs: readonly number[]) =>
      fleet.db
        .insertInto('reachability_samples')
        .values(agesMs.map((age) => ({ ...NONE, domain_id: id, at: new Date(START_MS - age), healthy: 1 })))
        .execute()

    it('has the nodes of each state at an instant, as lists of nodes and the sweeper have them', async () => {
      await fleet.enrol(domain)
      const [lost, late, ...fine] = [await fleet.enrol(domain), await fleet.enrol(domain), await fleet.enrol(domain)]
      const other = await fleet.domain()
      await fleet.enrol(other)
      await fleet.beat(lost)
      fleet.wait(8 * MINUTE_MS)
      await fleet.beat(late)
      fleet.wait(100_000)
      for (const node of fine) await fleet.beat(node)
      fleet.wait(20_000)
      await sample()
      await createReachabilitySweeper(fleet).run(unfenced(fleet))
      fleet.wait(1)
      const answer = await history()
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual({
        domain_id: domain,
        interval_seconds: 300,
        since: '2026-02-28T08:10:00.001Z',
        until: '2026-03-01T08:10:00.001Z',
        samples: [{ at: '2026-03-01T08:10:00.000Z', healthy: 1, stale: 1, unreachable: 1, never_reported: 1 }],
      })
      expect(samplesOf(await history('', { id: other }))).toEqual([
        { ...NONE, at: '2026-03-01T08:10:00.000Z', never_reported: 1 },
      ])
      const announced = await fleet.db
        .selectFrom('node_heartbeats')
        .innerJoin('nodes', 'nodes.id', 'node_heartbeats.node_id')
        .where('nodes.domain_id', '=', domain)
        .select('announced_state')
        .execute()
      expect(announced.map((row) => row.announced_state).toSorted()).toEqual([
        'healthy',
        'never_reported',
        'stale',
        'unreachable',
      ])
    })

    it('has one sample of an instant, the first, where two replicas take it', async () => {
      const node = await fleet.enrol(domain)
      await Promise.all([sample(), sample()])
      fleet.wait(1_000)
      await fleet.beat(node)
      await sample()
      expect(samplesOf(await history())).toEqual([{ ...NONE, at: '2026-03-01T08:00:00.000Z', never_reported: 1 }])
    })

    it('has a gap where an instant was missed, and where the Domain had no node', async () => {
      const sampleAfter = async (minutes: number, seconds: number) => {
        fleet.clock.nowMs = START_MS + minutes * MINUTE_MS + seconds * 1_000
        await sample()
      }
      await fleet.enrol(domain)
      await sampleAfter(0, 30)
      await sampleAfter(5, 31)
      await fleet.db.deleteFrom('nodes').execute()
      await sampleAfter(10, 0)
      await fleet.enrol(domain)
      await sampleAfter(15, 1)
      expect(instantsOf(await history())).toEqual(['2026-03-01T08:00:00.000Z', '2026-03-01T08:15:00.000Z'])
    })

    it('goes with the Domain, and only with it', async () => {
      const other = await fleet.domain()
      const node = await fleet.enrol(domain)
      await fleet.enrol(other)
      await sample()
      await fleet.call(fleet.root, `DELETE /v1/nodes/${node.node_id}`)
      expect((await fleet.call(fleet.root, `DELETE /v1/domains/${domain}`)).status).toBe(204)
      const left = await fleet.db.selectFrom('reachability_samples').select('domain_id').execute()
      expect(left).toEqual([{ domain_id: other }])
      fleet.wait(5 * MINUTE_MS)
      await sample()
      fleet.wait(1)
      expect(samplesOf(await history('', { id: other }))).toHaveLength(2)
      const range = { domainId: domain, since: new Date(0), until: new Date(fleet.clock.nowMs) }
      expect(await readSamples(fleet.db, range)).toBeUndefined()
    })

    it('is of 24 hours unless the query says otherwise, with its beginning and without its end', async () => {
      await keep(domain, 0, HOUR_MS, DAY_MS, DAY_MS + 1, 7 * DAY_MS, 7 * DAY_MS + 1)
      const hourAgo = '2026-03-01T07:00:00.000Z'
      const dayAgo = '2026-02-28T08:00:00.000Z'
      expect(instantsOf(await history())).toEqual([dayAgo, hourAgo])
      expect(instantsOf(await history(`since=${hourAgo}`))).toEqual([hourAgo])
      expect(instantsOf(await history(`until=${hourAgo}`))).toEqual([dayAgo])
      expect(instantsOf(await history('since=2026-03-01T08:30:00%2B01:30&until=2026-03-01T07:00:00.001Z'))).toEqual([
        hourAgo,
      ])
    })

    it('goes back 7 days at most, and no further than now, and says so', async () => {
      await keep(domain, HOUR_MS, 7 * DAY_MS, 7 * DAY_MS + 1)
      const answer = await history('since=0001-01-01T00:00:00Z&until=9999-12-31T23:59:59Z')
      expect(answer.body).toMatchObject({ since: '2026-02-22T08:00:00.000Z', until: '2026-03-01T08:00:00.000Z' })
      expect(instantsOf(answer)).toEqual(['2026-02-22T08:00:00.000Z', '2026-03-01T07:00:00.000Z'])
    })

    it.each([
      'since=yesterday',
      'until=2026-03-01',
      'since=2026-03-01T08:00:00Z',
      'since=2026-03-01T07:00:00Z&until=2026-03-01T07:00:00Z',
      'until=2026-02-28T08:00:00Z',
      'since=2026-02-01T00:00:00Z&until=2026-02-10T00:00:00Z',
    ])('has no period of %s', async (query) => {
      expect(await history(query)).toMatchObject({ status: 400, body: { code: 'invalid_reachability_filter' } })
    })

    it('is read by those who may read the Domain, who may read all of its nodes, and leaves an audit row', async () => {
      const project = await fleet.project(domain)
      const viewer = await fleet.holder(domain, 'viewer', `domain:${domain}`)
      const deployer = await fleet.holder(domain, 'admin', `project:${project}`)
      const answer = await history('', { as: viewer })
      expect(answer.status).toBe(200)
      expect(await fleet.audit(answer)).toMatchObject({
        relation: 'domain_reachability.read',
        object: `domain:${domain}`,
        outcome: 'granted',
        domainId: domain,
      })
      expect(await history('', { as: deployer })).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
      expect((await history('', { id: NOWHERE, as: viewer })).status).toBe(403)
    })

    it('forgets samples after 7 days, in batches', async () => {
      const old = Array.from({ length: 2_001 }, (_, at) => 7 * DAY_MS + 1 + at)
      await keep(domain, 7 * DAY_MS, ...old)
      const sweeper = createSamplesSweeper(fleet.clock)
      expect([await sweeper.run(unfenced(fleet)), await sweeper.run(unfenced(fleet))]).toEqual([true, false])
      const left = await fleet.db.selectFrom('reachability_samples').select('at').execute()
      expect(left).toEqual([{ at: new Date(START_MS - 7 * DAY_MS) }])
    })
  })
})

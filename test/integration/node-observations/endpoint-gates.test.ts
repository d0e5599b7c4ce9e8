import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Answer } from '../../support/server/control-plane.ts'
import type { Enrolled } from '../../support/fleet/fleet.ts'
import { startObservedFleet, type ObservedFleet } from '../../support/fleet/observed-fleet.ts'
import { STORES } from '../../support/datastores/stores.ts'

/** The six gates of the endpoint intake in their order, each with what it refuses with (S0 Endpoint intake). */
const GATES = [
  ['authentication', 401, 'unauthorized'],
  ['path', 403, 'node_id_mismatch'],
  ['cap', 413, 'request_body_too_large'],
  ['decode', 400, 'invalid_body'],
  ['skew', 400, 'endpoint_clock_skew'],
  ['parse', 400, 'endpoint_unparseable'],
] as const

type Gate = (typeof GATES)[number][0]

const PAIRS = GATES.flatMap(([first, status, code], index) =>
  GATES.slice(index + 1).map(([second]) => [first, second, status, code] as const),
)

describe.each(STORES)('The gates of the endpoint intake on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let fleet: ObservedFleet
    let domain: string
    let node: Enrolled
    let other: Enrolled
    let startMs: number
    beforeAll(async () => {
      fleet = await startObservedFleet(store)
      startMs = fleet.clock.nowMs
      domain = await fleet.domain()
      other = await fleet.enrol(domain)
    })
    beforeEach(async () => {
      fleet.clock.nowMs = startMs
      node = await fleet.enrol(domain)
    })
    afterAll(() => fleet.stop())

    function report(failing: readonly Gate[], sized = 0): Promise<Answer> {
      const fails = new Set(failing)
      const body = {
        endpoint: fails.has('parse') ? 'nowhere' : '198.51.100.7:51820',
        nat_type: 'cone',
        reported_at: fleet.instant(fails.has('skew') ? 60_001 : 0),
        ...(fails.has('decode') && { unknown: 1 }),
      }
      const text = JSON.stringify(body).padEnd(fails.has('cap') ? 4_097 : sized)
      const foreign = fails.has('path') ? other.nsk : node.nsk
      const credential = fails.has('authentication') ? 'nobody' : foreign
      return fleet.send(credential, `PUT /v1/nodes/${node.node_id}/endpoint`, text)
    }

    const inDomainOfTtl = async (seconds: number) => {
      node = await fleet.enrol(await fleet.domain())
      await fleet.holdFor(node.domain_id, seconds)
    }
    const nothing = async () => {
      expect(await fleet.storedEndpoint(node.node_id)).toBeUndefined()
      expect((await fleet.endpointNews()).filter(({ aggregate }) => aggregate === `node:${node.node_id}`)).toEqual([])
    }

    it.each(GATES)('%s alone refuses with %d %s, and nothing is stored', async (gate, status, code) => {
      expect(await report([gate])).toMatchObject({ status, body: { code } })
      await nothing()
    })

    it.each(PAIRS)('%s comes before %s: %d %s', async (first, second, status, code) => {
      expect(await report([second, first])).toMatchObject({ status, body: { code } })
      await nothing()
    })

    it('let the first one win where all would refuse', async () => {
      const every = GATES.map(([gate]) => gate)
      for (const [index, [, status, code]] of GATES.entries()) {
        expect(await report(every.slice(index))).toMatchObject({ status, body: { code } })
      }
    })

    it('let a body of 4,096 bytes pass', async () => {
      expect(await report([], 4_096)).toMatchObject({ status: 200 })
    })

    it('ask for a credential before they look at the id, and at the id before the rest', async () => {
      const at = 'PUT /v1/nodes/no-uuid/endpoint'
      expect(await fleet.send('nobody', at, '{}')).toMatchObject({ status: 401 })
      expect(await fleet.send(node.nsk, at, 'x'.repeat(5_000))).toMatchObject({
        status: 400,
        body: { code: 'invalid_node_id' },
      })
    })

    it('are closed to people and to keys that are revoked', async () => {
      expect(await fleet.endpoint({ ...node, nsk: fleet.root }, '198.51.100.7:1')).toMatchObject({
        status: 401,
        body: { code: 'unauthorized' },
      })
      await fleet.db
        .updateTable('node_secret_keys')
        .set({ revoked_at: new Date(startMs) })
        .where('node_id', '=', node.node_id)
        .execute()
      expect(await fleet.endpoint(node, '198.51.100.7:1')).toMatchObject({
        status: 401,
        body: { code: 'nsk_revoked' },
      })
    })

    it.each([
      ['no endpoint', { endpoint: undefined }],
      ['an endpoint that is no text', { endpoint: 51_820 }],
      ['a nat_type that is not known', { nat_type: 'full' }],
      ['no instant', { reported_at: 'now' }],
      ['an instant without a zone', { reported_at: '2026-03-01T08:00:00' }],
      ['a NUL', { endpoint: '198.51.100.7:51820\u0000' }],
    ])('do not decode %s', async (_what, members) => {
      expect(await fleet.endpoint(node, '198.51.100.7:51820', members)).toMatchObject({
        status: 400,
        body: { code: 'invalid_body' },
      })
      await nothing()
    })

    it('do not decode what is no JSON', async () => {
      const answer = await fleet.send(node.nsk, `PUT /v1/nodes/${node.node_id}/endpoint`, '{"endpoint"')
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
    })

    it.each([60_000, -60_000])('take a clock that is %d ms off', async (ms) => {
      const answer = await fleet.endpoint(node, '198.51.100.7:51820', { reported_at: fleet.instant(ms) })
      expect(answer).toMatchObject({ status: 200 })
    })

    it.each([
      [300, 60_001, 'skew'],
      [300, -60_001, 'skew'],
      [300, -300_000, 'skew'],
      [300, -300_001, 'stale'],
      [30, -30_001, 'stale'],
      [30, 60_001, 'skew'],
    ])('under a TTL of %d s refuse what was observed %d ms from now, and say why: %s', async (ttl, ms, reason) => {
      await inDomainOfTtl(ttl)
      const answer = await fleet.endpoint(node, '198.51.100.7:51820', { reported_at: fleet.instant(ms) })
      expect(answer).toMatchObject({ status: 400, body: { code: 'endpoint_clock_skew' } })
      expect(await fleet.audit(answer)).toMatchObject({
        relation: 'node_endpoint.record',
        object: `node:${node.node_id}`,
        outcome: 'invariant_violation',
        reason,
        domainId: node.domain_id,
      })
      await nothing()
    })

    it('find a report that is stale before one that cannot be read, and take one of just that age', async () => {
      await inDomainOfTtl(30)
      expect(await fleet.endpoint(node, 'nowhere', { reported_at: fleet.instant(-30_001) })).toMatchObject({
        status: 400,
        body: { code: 'endpoint_clock_skew' },
      })
      expect(await fleet.endpoint(node, '198.51.100.7:1', { reported_at: fleet.instant(-30_000) })).toMatchObject({
        status: 200,
      })
    })

    it('leave a row for each decision, that of the path under a relation of its own', async () => {
      const about = { object: `node:${node.node_id}`, domainId: domain }
      expect(await fleet.audit(await report([]))).toMatchObject({
        ...about,
        relation: 'node_endpoint.record',
        outcome: 'granted',
        reason: 'granted',
      })
      expect(await fleet.audit(await report(['path']))).toMatchObject({
        ...about,
        relation: 'node_endpoint.path_gate',
        outcome: 'permission_denied',
        reason: 'node_id_mismatch',
      })
      expect(await fleet.audit(await report(['parse']))).toMatchObject({
        ...about,
        relation: 'node_endpoint.record',
        outcome: 'invariant_violation',
        reason: 'endpoint_unparseable',
      })
    })

    it('are closed to a node that is gone, even while its key is still known', async () => {
      await fleet.endpoint(node, '198.51.100.7:51820')
      await fleet.db.deleteFrom('nodes').where('id', '=', node.node_id).execute()
      for (const endpoint of ['198.51.100.8:51820', 'nowhere']) {
        expect(await fleet.endpoint(node, endpoint)).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
      }
    })
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { contract } from '../../../src/shared/contract/index.ts'
import type { Operation, Surface } from '../../../src/shared/contract/operation.ts'
import { CHECKSUM, startFleet, type Enrolled, type Fleet } from '../../support/fleet/fleet.ts'
import { STORES } from '../../support/datastores/stores.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'

describe('The operations whose bodies are ingest', () => {
  it('are these four and no others: heartbeats and endpoints are none', () => {
    const surfaces: readonly Surface[] = Object.values(contract)
    const named = surfaces.flatMap(({ operations }) =>
      Object.entries<Operation>(operations).map(([id, { ingest }]) => [id, ingest] as const),
    )
    expect(Object.fromEntries(named.filter(([, ingest]) => ingest !== undefined))).toEqual({
      PutNodeCapabilities: 'refused',
      PutNodeStateReport: 'refused',
      PostNodeIntegrityViolations: 'counted',
      PostExecutionCallback: 'counted',
    })
  })
})

describe.each(STORES)('Ingest on the $name store', (store) => {
  describe.skipIf(store.missing)('beyond the target of a Domain', () => {
    let fleet: Fleet
    let startMs: number
    let domain: string
    let node: Enrolled
    const limits = { targets: new Map<string, number>(), replicas: 1 }
    const counted = new Map<string, number>()
    beforeAll(async () => {
      fleet = await startFleet(store, {
        surfaces: ['nodeObservations', 'executions'],
        capacityLimits: {
          targetOf: (domainId, dimension) =>
            dimension === 'observability_ingest' ? (limits.targets.get(domainId) ?? 0) : 1_000,
          liveReplicas: () => limits.replicas,
        },
        usage: {
          count(dimension, domainId, bytes) {
            const key = `${dimension} ${domainId}`
            counted.set(key, (counted.get(key) ?? 0) + bytes)
          },
        },
      })
      startMs = fleet.clock.nowMs
    })
    beforeEach(async () => {
      fleet.clock.nowMs = startMs
      limits.replicas = 1
      domain = await fleet.domain()
      node = await fleet.enrol(domain)
    })
    afterAll(() => fleet.stop())

    const used = () => counted.get(`observability_ingest ${domain}`) ?? 0
    const send = async (operation: string, text: string, of = node, nsk = of.nsk) => {
      const [method = '', path = ''] = operation.split(' ')
      const headers = { authorization: `Bearer ${nsk}`, 'content-type': 'application/json' }
      const url = `${fleet.url}/v1/nodes/${of.node_id}${path}`
      const answer = await fetch(url, { method, headers, body: text })
      const body = await answer.text()
      return {
        status: answer.status,
        retryAfter: answer.headers.get('retry-after'),
        body: body === '' ? {} : JSON.parse(body),
      }
    }
    /** A state report of so many bytes. */
    const report = (bytes: number, of = node) => {
      const value = 'x'.repeat(bytes - '{"value":""}'.length)
      return send('PUT /state/reports/a', `{"value":"${value}"}`, of)
    }
    const capabilities = () =>
      send('PUT /capabilities', JSON.stringify({ binary_version: '1', binary_checksum: CHECKSUM, hooks: [] }))
    const violation = {
      kind: 'binary',
      artifact: '/usr/bin/agent',
      expected_checksum: CHECKSUM,
      observed_checksum: 'cd'.repeat(32),
      detected_at: '2026-03-01T07:59:00Z',
    }
    const violations = () => send('POST /integrity-violations', JSON.stringify({ violations: [violation] }))
    const ask = async () => {
      const asked = { action: 'ping', type: 'builtin' }
      const answer = await fleet.call(fleet.root, `POST /v1/nodes/${node.node_id}/executions`, asked)
      return String(answer.body['execution_id'])
    }
    /** Uses up what the Domain may report in five seconds. */
    const useUp = async (target: number) => {
      limits.targets.set(domain, target)
      expect((await report(target * 5)).status).toBe(200)
    }

    it('is refused with the dimension and with the time until it fits', async () => {
      await useUp(400)
      const refused = await report(1_000)
      expect(refused).toMatchObject({
        status: 429,
        retryAfter: '3',
        body: {
          type: '/problems/capacity-exceeded',
          code: 'capacity_exceeded',
          dimension: 'observability_ingest',
          detail:
            'The nodes of the Domain report more bytes a second than its target allows; retry after the time in Retry-After.',
        },
      })
      expect(refused.body).not.toHaveProperty('retry_after_seconds')
      fleet.wait(2_000)
      expect((await report(1_000)).status).toBe(429)
      fleet.wait(1_000)
      expect((await report(1_000)).status).toBe(200)
    })

    it('refuses capabilities as well', async () => {
      await useUp(400)
      expect(await capabilities()).toMatchObject({ status: 429, body: { dimension: 'observability_ingest' } })
      fleet.wait(5_000)
      expect((await capabilities()).status).toBe(200)
    })

    it('takes violations and results of executions all the same, and counts them', async () => {
      const id = await ask()
      await useUp(400)
      const before = used()
      for (let times = 0; times < 20; times += 1) expect((await violations()).status).toBe(202)
      for (const status of ['ack', 'started', 'succeeded'])
        expect((await send(`POST /executions/${id}`, JSON.stringify({ status }))).status).toBe(204)
      const bytes = 20 * JSON.stringify({ violations: [violation] }).length + 16 + 20 + 22
      expect(used() - before).toBe(bytes)
      expect(await report(400)).toMatchObject({ status: 429, retryAfter: '6' })
    })

    it('takes heartbeats, deletions of reports and pulls as ever, and does not count them', async () => {
      await useUp(400)
      const before = used()
      expect((await fleet.beat(node)).status).toBe(200)
      const endpoint = { endpoint: '203.0.113.7:51820', nat_type: 'cone', reported_at: '2026-03-01T08:00:00.000Z' }
      expect((await send('PUT /endpoint', JSON.stringify(endpoint))).status).toBe(200)
      const gone = await fleet.call(node.nsk, `DELETE /v1/nodes/${node.node_id}/state/reports/a`)
      expect(gone.status).toBe(204)
      expect(used()).toBe(before)
    })

    it('counts the bytes that arrived, once, and none of what is refused for it', async () => {
      limits.targets.set(domain, 400)
      expect((await report(2_000)).status).toBe(200)
      expect(used()).toBe(2_000)
      expect((await report(2_000)).status).toBe(429)
      expect(used()).toBe(2_000)
    })

    it('counts a body that is not understood, and refuses it before it is read', async () => {
      limits.targets.set(domain, 400)
      expect((await send('PUT /state/reports/a', '{'.repeat(1_500))).status).toBe(400)
      expect(used()).toBe(1_500)
      expect((await send('PUT /state/reports/a', '{'.repeat(1_500))).status).toBe(429)
      expect(used()).toBe(1_500)
    })

    it('is asked after credential, path and cap: what these refuse is not counted', async () => {
      await useUp(400)
      const other = await fleet.enrol(domain)
      const body = `{"value":"${'x'.repeat(1_000)}"}`
      expect((await send('PUT /state/reports/a', body, node, 'nsk_nobody')).status).toBe(401)
      expect((await send('PUT /state/reports/a', body, node, other.nsk)).status).toBe(403)
      expect((await send('PUT /state/reports/A', body)).status).toBe(400)
      expect((await report(32 * 1024 + 1)).status).toBe(413)
      expect(used()).toBe(2_000)
    })

    it('is each Domain’s own', async () => {
      await useUp(400)
      const elsewhere = await fleet.domain()
      limits.targets.set(elsewhere, 400)
      expect((await report(2_000, await fleet.enrol(elsewhere))).status).toBe(200)
      expect((await report(2_000, await fleet.enrol(domain))).status).toBe(429)
    })

    it('has no bound with a target of 0, and is counted', async () => {
      for (let times = 0; times < 3; times += 1) expect((await report(4_000)).status).toBe(200)
      expect(used()).toBe(12_000)
    })

    it('follows another target at once, from as full a bucket as before', async () => {
      await useUp(400)
      limits.targets.set(domain, 4_000)
      expect(await report(4_000)).toMatchObject({ status: 429, retryAfter: '1' })
      fleet.wait(1_000)
      expect((await report(4_000)).status).toBe(200)
      limits.targets.set(domain, 0)
      expect((await report(4_000)).status).toBe(200)
    })

    it('divides the target between the replicas', async () => {
      limits.targets.set(domain, 800)
      limits.replicas = 2
      expect((await report(2_000)).status).toBe(200)
      expect(await report(2_000)).toMatchObject({ status: 429, retryAfter: '5' })
      limits.replicas = 4
      expect(await report(1_000)).toMatchObject({ status: 429, retryAfter: '5' })
    })

    it('takes one body that is larger than five seconds of the target, and asks for a minute at most then', async () => {
      limits.targets.set(domain, 10)
      expect((await report(4_000)).status).toBe(200)
      expect(await report(4_000)).toMatchObject({ status: 429, retryAfter: '60' })
      fleet.wait(60_000)
      expect((await report(4_000)).status).toBe(200)
    })

    it('has audit rows of its own for ten refusals of a node in a minute, as rate limits have', async () => {
      await useUp(400)
      for (let times = 0; times < 15; times += 1) expect((await report(2_000)).status).toBe(429)
      const rows = fleet.audited.filter(
        ({ object, reason }) => object === `node:${node.node_id}` && reason !== 'granted',
      )
      expect(rows).toHaveLength(10)
      expect(rows[0]).toMatchObject({
        domainId: domain,
        relation: 'node_state_report.put',
        reason: 'capacity_exceeded',
        outcome: 'invariant_violation',
      })
    })

    it('leaves a result for an execution that does not exist unknown', async () => {
      await useUp(400)
      expect(await send(`POST /executions/${NOWHERE}`, '{"status":"ack"}')).toMatchObject({
        status: 404,
        body: { code: 'execution_not_found' },
      })
    })
  })
})

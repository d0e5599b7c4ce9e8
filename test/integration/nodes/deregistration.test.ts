import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { sweepEphemerals } from '../../../src/server/slices/nodes/ephemeral-sweeper.ts'
import { freshPublicKey, startFleet, type Enrolled, type Fleet } from '../../support/fleet/fleet.ts'
import { unfenced } from '../../support/datastores/leading.ts'
import { STORES } from '../../support/datastores/stores.ts'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

describe.each(STORES)('The end of nodes on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: Fleet
    let domain: string
    let startMs: number
    beforeAll(async () => {
      fleet = await startFleet(store)
      startMs = fleet.clock.nowMs
    })
    beforeEach(async () => {
      fleet.clock.nowMs = startMs
      domain = await fleet.domain()
    })
    afterAll(() => fleet.stop())

    const remove = (node: Enrolled, as = fleet.root) => fleet.call(as, `DELETE /v1/nodes/${node.node_id}`)
    const idsLeft = async () => {
      const rows = await fleet.db
        .selectFrom('nodes')
        .select('id')
        .where('domain_id', '=', domain)
        .orderBy('id')
        .execute()
      return rows.map(({ id }) => id)
    }

    describe('DeleteNode', () => {
      it('takes the node with its keys, heartbeats, tuples and places as a host, tells its peers and is audited', async () => {
        const project = await fleet.project(domain)
        const node = await fleet.enrol(domain, { name: 'web-1' }, { project_id: project })
        const resource = await fleet.call(fleet.root, `POST /v1/projects/${project}/resources`, {
          kind: 'bridge',
          slug: 'edge',
          display_name: 'Edge',
          host_node_ids: [node.node_id],
        })
        expect(resource.status).toBe(201)
        await fleet.holder(domain, 'operator', `node:${node.node_id}`)
        await fleet.beat(node)
        const answer = await remove(node)
        expect(answer.status).toBe(204)
        for (const table of ['node_heartbeats', 'node_secret_keys', 'resource_hosts'] as const) {
          const rows = await fleet.db.selectFrom(table).selectAll().where('node_id', '=', node.node_id).execute()
          expect(rows, table).toEqual([])
        }
        expect(await idsLeft()).toEqual([])
        expect(await fleet.tuplesOf(`node:${node.node_id}`)).toEqual([])
        const resourceId = String(resource.body['id'])
        expect(await fleet.call(fleet.root, `GET /v1/projects/${project}/resources/${resourceId}`)).toMatchObject({
          status: 200,
          body: { host_node_ids: [] },
        })
        expect(await fleet.outbox(answer)).toEqual([
          {
            event: 'peer_deregistered',
            domain_id: domain,
            aggregate: `node:${node.node_id}`,
            payload: {
              node_id: node.node_id,
              name: 'web-1',
              former: { mesh_address: node.mesh_address, groups: [], policy_ids: [] },
            },
          },
        ])
        expect(await fleet.audit(answer)).toEqual({
          relation: 'node.deregister',
          object: `node:${node.node_id}`,
          outcome: 'granted',
          reason: 'granted',
          domainId: domain,
        })
      })

      it('kills the keys at once, and they are then unknown', async () => {
        const node = await fleet.enrol(domain)
        expect(await fleet.beat(node)).toMatchObject({ status: 200 })
        await remove(node)
        expect(await fleet.beat(node)).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
      })

      it('frees name and public key at once, and the address after 24 hours', async () => {
        const members = { name: 'web-1', public_key: freshPublicKey() }
        const node = await fleet.enrol(domain, members)
        expect(node.mesh_address).toBe('100.64.0.1')
        await remove(node)
        expect(await fleet.enrol(domain, members)).toMatchObject({ mesh_address: '100.64.0.2' })
        fleet.wait(24 * HOUR_MS - 1)
        expect(await fleet.enrol(domain)).toMatchObject({ mesh_address: '100.64.0.3' })
        fleet.wait(1)
        expect(await fleet.enrol(domain)).toMatchObject({ mesh_address: '100.64.0.1' })
      })

      it('needs node-operate on the node', async () => {
        const node = await fleet.enrol(domain)
        const viewer = await fleet.holder(domain, 'viewer', `domain:${domain}`)
        expect(await remove(node, viewer)).toMatchObject({ status: 403 })
        expect(await remove(node, node.nsk)).toMatchObject({ status: 401 })
        expect(await idsLeft()).toEqual([node.node_id])
      })

      it('happens once, however many ask at once, and one address comes to rest', async () => {
        const node = await fleet.enrol(domain)
        const answers = await Promise.all([remove(node), remove(node), remove(node)])
        expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
        expect(answers.every(({ status }) => [204, 403, 404].includes(status))).toBe(true)
        const resting = await fleet.db
          .selectFrom('mesh_addresses_resting')
          .select(['mesh_address', 'freed_at'])
          .where('domain_id', '=', domain)
          .execute()
        expect(resting).toEqual([{ mesh_address: '100.64.0.1', freed_at: new Date(startMs) }])
      })
    })

    describe('The sweep of ephemeral nodes', () => {
      const onFailure = vi.fn<(error: unknown, nodeId: string) => void>()
      const sweep = () => sweepEphemerals({ ...fleet, onFailure }, unfenced(fleet))

      it('takes those ten minutes out of reach, or never heard of for as long, and no others', async () => {
        const kept = await fleet.enrol(domain)
        const silent = await fleet.enrol(domain, {}, { ephemeral: true })
        const spoke = await fleet.enrol(domain, {}, { ephemeral: true })
        await fleet.beat(kept)
        fleet.wait(1)
        await fleet.beat(spoke)
        fleet.wait(15 * MINUTE_MS - 2)
        expect(await sweep()).toBe(0)
        fleet.wait(1)
        expect(await sweep()).toBe(1)
        expect(await idsLeft()).toEqual([kept.node_id, spoke.node_id].toSorted())
        fleet.wait(1)
        expect(await sweep()).toBe(1)
        expect(await idsLeft()).toEqual([kept.node_id])
        expect(await fleet.beat(silent)).toMatchObject({ status: 401 })
        expect(onFailure).not.toHaveBeenCalled()
      })

      it('tells the peers and is audited as the work of the platform', async () => {
        const node = await fleet.enrol(domain, {}, { ephemeral: true })
        fleet.wait(15 * MINUTE_MS)
        await sweep()
        const rows = await fleet.db
          .selectFrom('audit')
          .select(['subject', 'relation', 'outcome', 'reason', 'domain_id', 'correlation_id'])
          .where('object', '=', `node:${node.node_id}`)
          .where('relation', '=', 'node.deregister')
          .execute()
        expect(rows).toEqual([
          {
            subject: 'platform:main',
            relation: 'node.deregister',
            outcome: 'granted',
            reason: 'ephemeral_unreachable',
            domain_id: domain,
            correlation_id: expect.any(String),
          },
        ])
        const events = await fleet.db
          .selectFrom('outbox')
          .select('event')
          .where('correlation_id', '=', rows[0]?.correlation_id ?? '')
          .execute()
        expect(events).toEqual([{ event: 'peer_deregistered' }])
      })

      it('on two replicas at once takes each node once', async () => {
        for (let n = 0; n < 5; n++) await fleet.enrol(domain, {}, { ephemeral: true })
        fleet.wait(15 * MINUTE_MS)
        const gone = await Promise.all([sweep(), sweep()])
        expect(gone.reduce((sum, each) => sum + each, 0)).toBe(5)
        expect(onFailure).not.toHaveBeenCalled()
      })
    })
  })
})

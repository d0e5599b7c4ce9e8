import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { restartAfterRestore } from '../../../src/server/adapters/postgres/after-restore.ts'
import type { ControlPlane } from '../../support/server/control-plane.ts'
import type { Enrolled } from '../../support/fleet/fleet.ts'
import {
  startPullingReplica,
  startStatefulFleet,
  stateRows,
  type Pulling,
  type StatefulFleet,
} from '../../support/fleet/node-states.ts'
import { STORES } from '../../support/datastores/stores.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const ETAG = /^"[A-Za-z0-9_-]{43}"$/

interface SeenPeer {
  readonly node_id: string
  readonly endpoint: string
  readonly fallback_endpoint?: string
  readonly public_key: string
  readonly psk_issued_at: string
}

describe.each(STORES)('The state of a node on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: StatefulFleet
    let replica: ControlPlane & Pulling
    let rows: ReturnType<typeof stateRows>
    let domain: string
    let project: string
    let nodes: readonly [Enrolled, Enrolled, Enrolled]
    beforeAll(async () => {
      fleet = await startStatefulFleet(store)
      replica = await startPullingReplica(fleet)
      rows = stateRows(fleet)
    }, 120_000)
    beforeEach(async () => {
      domain = await fleet.domain()
      project = await fleet.project(domain)
      const enrol = (name: string, labels: object) => fleet.enrol(domain, { name }, { labels })
      nodes = [
        await enrol('web-1', { tier: 'web' }),
        await enrol('web-2', { tier: 'web', zone: 'a' }),
        await enrol('db-1', {}),
      ]
    }, 180_000)
    afterAll(async () => {
      await replica.stop()
      await fleet.stop()
    })

    const own = (node: Enrolled, ifNoneMatch?: string) => fleet.pull(node.nsk, node.node_id, ifNoneMatch)
    const peersOf = async (node: Enrolled) => (await own(node)).body['peers'] as readonly SeenPeer[]
    const place = (node: Enrolled) => ({ nodeId: node.node_id, domainId: domain })

    it('carries every block although there is nothing in it, in canonical form', async () => {
      const alone = await fleet.enrol(await fleet.domain(), { name: 'web-1' })
      const { status, headers, etag, text } = await own(alone)
      expect([status, headers.get('cache-control'), headers.get('content-type')]).toEqual([
        200,
        'no-cache',
        'application/json; charset=utf-8',
      ])
      expect(headers.get('content-length')).toBe(String(text.length))
      expect(etag).toMatch(ETAG)
      expect(text).toBe(
        '{"bridge":{"resources":[]},"executions":[],"peers":[],"policy":{"policies":[]},"self":{"mesh_address":"100.64.0.1","mesh_cidr":"100.64.0.0/10","name":"web-1","psk_issued_at":"2026-03-01T08:00:00.000000000Z"},"sessions":[],"state/reports":{}}',
      )
    })

    it('names all other nodes of the Domain by id, and none of another one', async () => {
      await fleet.enrol(await fleet.domain())
      const [first, second, third] = nodes
      for (const node of nodes) {
        const others = nodes.filter((other) => other !== node).map(({ node_id }) => node_id)
        expect((await peersOf(node)).map(({ node_id }) => node_id)).toEqual(others.toSorted())
      }
      expect((await peersOf(first))[0]).toEqual({
        endpoint: '',
        groups: [],
        mesh_address: second.mesh_address,
        name: 'web-2',
        node_id: second.node_id,
        psk_issued_at: '2026-03-01T08:00:00.000000000Z',
        public_key: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/),
      })
      expect((await fleet.pull(fleet.root, third.node_id)).text).toBe((await own(third)).text)
    })

    it('shows endpoints while they are fresh, and the relay that would carry the edge', async () => {
      const [first, second, third] = nodes
      await rows.endpoint(domain, second.node_id, { host: '2001:db8::2', port: 51_820 })
      await rows.endpoint(domain, third.node_id, { host: '198.51.100.3', port: 3 })
      const seen = async (by: Enrolled, of: Enrolled) => {
        const peer = (await peersOf(by)).find(({ node_id }) => node_id === of.node_id)
        return [peer?.endpoint, peer?.fallback_endpoint]
      }
      expect([await seen(first, second), await seen(first, third)]).toEqual([
        ['[2001:db8::2]:51820', undefined],
        ['198.51.100.3:3', undefined],
      ])
      await rows.relays(domain, second.node_id, third.node_id)
      expect([await seen(first, second), await seen(first, third), await seen(second, first)]).toEqual([
        ['[2001:db8::2]:51820', '198.51.100.3:51822'],
        ['198.51.100.3:3', '[2001:db8::2]:51821'],
        ['', '[2001:db8::2]:51821'],
      ])
      await rows.endpoint(domain, second.node_id, null)
      expect([await seen(first, second), await seen(first, third)]).toEqual([
        ['', '198.51.100.3:51822'],
        ['198.51.100.3:3', undefined],
      ])
      await rows.relays(domain, null, null)
      expect(await seen(first, second)).toEqual(['', undefined])
    })

    it('shows the keys of peers as they are now', async () => {
      const [first, second] = nodes
      const before = await peersOf(first)
      const key = randomBytes(32)
      await rows.rotate(domain, second.node_id, key)
      const after = await peersOf(first)
      expect(after[0]).toEqual({
        ...before[0],
        public_key: key.toString('base64'),
        psk_issued_at: '2026-03-01T08:00:00.000000001Z',
      })
      expect(after[1]).toEqual(before[1])
    })

    it('has the policies in force that match the labels of the node, by id', async () => {
      const [one, two] = [fleet.ids.next(), fleet.ids.next()]
      const rules = [{ to: 'any', from: 'é' }, 2]
      const second = await rows.policy(domain, { id: two, selector: {}, rules: [] })
      await rows.policy(domain, { id: one, selector: { tier: 'web' }, rules: [] })
      const first = await rows.policy(domain, { id: one, selector: { tier: 'web', zone: 'a' }, rules })
      const policies = async (node: Enrolled) => (await own(node)).body['policy']
      const everywhere = { policy_id: two, revision_id: second, fingerprint: 'fingerprint of 0', rules: [] }
      const narrow = { policy_id: one, revision_id: first, fingerprint: 'fingerprint of 2', rules }
      expect(await policies(nodes[0])).toEqual({ policies: [everywhere] })
      expect(await policies(nodes[1])).toEqual({ policies: [narrow, everywhere] })
      expect((await own(nodes[1])).text).toContain('"rules":[{"from":"é","to":"any"},2]}')
      await rows.withoutPolicy(one)
      expect(await policies(nodes[1])).toEqual({ policies: [everywhere] })
    })

    it('has the configurations of the bridges that the node hosts, and follows who hosts them', async () => {
      const [first, second] = nodes
      const bridge = async (slug: string, host: Enrolled) => {
        const body = { kind: 'bridge', slug, display_name: slug, host_node_ids: [host.node_id] }
        return fleet.call(fleet.root, `POST /v1/projects/${project}/resources`, body)
      }
      const ids = [await bridge('one', first), await bridge('two', first)].map(({ body }) => String(body['id']))
      for (const [index, id] of ids.entries()) await rows.bridgeConfig(domain, id, { index, a: [] })
      const resources = (pulled: Awaited<ReturnType<typeof own>>) => pulled.body['bridge']
      const before = await own(first)
      expect(resources(before)).toEqual({
        resources: ids.map((bridge_resource_id, index) => ({ bridge_resource_id, effective_config: { a: [], index } })),
      })
      const path = `/v1/projects/${project}/resources/${ids[0]}`
      await fleet.call(fleet.root, `PATCH ${path}`, { host_node_ids: [second.node_id] })
      const after = await own(first, before.etag)
      expect([after.status, (resources(after) as { resources: unknown[] }).resources.length]).toEqual([200, 1])
      const moved = await own(second)
      expect(resources(moved)).toMatchObject({ resources: [{ bridge_resource_id: ids[0] }] })
      expect((await fleet.call(fleet.root, `DELETE ${path}`)).status).toBe(204)
      expect(resources(await own(second, moved.etag))).toEqual({ resources: [] })
    })

    it('has what the node reported last under each key', async () => {
      const [node] = nodes
      await rows.report(node.node_id, 'b.two', { z: 1, a: [null, 'x'] })
      await rows.report(node.node_id, 'a-one', 'before')
      await rows.report(node.node_id, 'a-one', 1.5)
      expect((await own(node)).text).toContain('"state/reports":{"a-one":1.5,"b.two":{"a":[null,"x"],"z":1}}}')
      expect((await own(nodes[1])).body['state/reports']).toEqual({})
    })

    it('has executions that have not ended, in the order in which they were asked for', async () => {
      const [node] = nodes
      const first = await rows.execution(place(node), { path: '/é', b: 1, a: { z: [], b: 2 } })
      fleet.wait(1_001)
      const second = await rows.execution(place(node), null)
      const common = { action: 'ping "all"', type: 'builtin' }
      const shown = async () => (await own(node)).body['executions']
      expect(await shown()).toEqual([
        {
          ...common,
          execution_id: first,
          status: 'pending',
          parameters: { path: '/é', b: 1, a: { z: [], b: 2 } },
          requested_at: expect.stringMatching(/Z$/),
          expires_at: expect.stringMatching(/Z$/),
        },
        expect.objectContaining({
          ...common,
          execution_id: second,
          requested_at: new Date(fleet.clock.nowMs).toISOString(),
          expires_at: new Date(fleet.clock.nowMs + 300_000).toISOString(),
        }),
      ])
      await rows.executionIs(node.node_id, first, 'started')
      expect(await shown()).toMatchObject([{ execution_id: first, status: 'started' }, { execution_id: second }])
      await rows.executionIs(node.node_id, first, 'succeeded')
      expect(await shown()).toMatchObject([{ execution_id: second }])
      // Time alone changes nothing: a sweeper does.
      fleet.wait(600_000)
      expect(await shown()).toMatchObject([{ execution_id: second }])
    })

    it('has the sessions that are live, in the order in which they were issued', async () => {
      const [node] = nodes
      const first = await rows.session(place(node), project, 60)
      fleet.wait(10)
      const second = await rows.session(place(node), project, null)
      const expiresAt = new Date(fleet.clock.nowMs + 3_600_000).toISOString()
      const shown = async () => (await own(node)).body['sessions']
      expect(await shown()).toEqual([
        expect.objectContaining({ session_id: first, jti: first, idle_timeout_seconds: 60 }),
        { session_id: second, jti: second, kind: 'ssh', target: 'röot@localhost:22', expires_at: expiresAt },
      ])
      await rows.sessionIsOver(node.node_id, first, 'revoked_at')
      expect(await shown()).toMatchObject([{ session_id: second }])
      await rows.sessionIsOver(node.node_id, second, 'ended_at')
      expect(await shown()).toEqual([])
    })

    it('is answered with 304 as long as nothing has changed, and anew when something has', async () => {
      const [node, other] = nodes
      const { etag } = await own(node)
      for (const named of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
        const same = await own(node, named)
        expect([same.status, same.text, same.etag, same.headers.get('cache-control')]).toEqual([
          304,
          '',
          etag,
          'no-cache',
        ])
      }
      expect((await own(node, (await own(other)).etag)).status).toBe(200)
      await fleet.beat(node)
      expect((await own(node, etag)).status).toBe(304)
      await rows.report(node.node_id, 'k', 1)
      const after = await own(node, etag)
      expect([after.status, after.etag === etag]).toEqual([200, false])
      expect((await own(other, (await own(other)).etag)).status).toBe(304)
    })

    it('follows nodes that come and go, as one who reads all of it anew', async () => {
      const [first, second] = nodes
      const before = await own(first)
      const joined = await fleet.enrol(domain)
      const grown = await own(first, before.etag)
      expect(grown.body['peers']).toHaveLength(3)
      expect((await fleet.call(fleet.root, `DELETE /v1/nodes/${second.node_id}`)).status).toBe(204)
      const shrunk = await own(first, grown.etag)
      expect(shrunk.status).toBe(200)
      expect((shrunk.body['peers'] as SeenPeer[]).map(({ node_id }) => node_id)).toEqual(
        [nodes[2].node_id, joined.node_id].toSorted(),
      )
      const anew = await startPullingReplica(fleet)
      try {
        const read = await anew.pull(first.nsk, first.node_id)
        expect([read.text, read.etag]).toEqual([shrunk.text, shrunk.etag])
      } finally {
        await anew.stop()
      }
    })

    it('is not there for a node that does not exist', async () => {
      const [node] = nodes
      await own(node)
      await fleet.db.deleteFrom('nodes').where('id', '=', node.node_id).execute()
      for (const as of [node.nsk, fleet.root])
        for (const known of [undefined, '"x"'])
          expect(await fleet.pull(as, node.node_id, known)).toMatchObject({
            status: 404,
            body: { code: 'node_not_found' },
          })
      expect(await fleet.pull(fleet.root, NOWHERE)).toMatchObject({ status: 403 })
      expect(await fleet.pull(fleet.root, 'x')).toMatchObject({ status: 400, body: { code: 'invalid_node_id' } })
    })

    it('is for the node itself and for operators', async () => {
      const [node, other] = nodes
      const operator = await fleet.holder(domain, 'operator', `domain:${domain}`)
      const viewer = await fleet.holder(domain, 'viewer', `domain:${domain}`)
      expect((await fleet.pull(operator, node.node_id)).status).toBe(200)
      expect(await fleet.pull(viewer, node.node_id)).toMatchObject({
        status: 403,
        body: { code: 'permission_denied', missing_relation: { relation: 'node-agent' } },
      })
      expect(await fleet.pull(other.nsk, node.node_id)).toMatchObject({
        status: 403,
        body: { code: 'node_id_mismatch' },
      })
      expect(await fleet.pull('nobody', node.node_id)).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
    })

    it('has another tag and a newer key after a restore, although nothing else has changed', async () => {
      const [node] = nodes
      const instant = /"self":\{.*"psk_issued_at":"([^"]+)"/
      // Those of its peers are newer, too.
      const without = (text: string): string => text.replaceAll(/"psk_issued_at":"[^"]+"/g, '')
      const before = await own(node)
      await fleet.datastore.transaction('worker', (tx) => restartAfterRestore(tx, Date.now()))
      const after = await own(node, before.etag)
      expect([after.status, without(after.text), after.etag === before.etag]).toEqual([
        200,
        without(before.text),
        false,
      ])
      expect(instant.exec(after.text)?.[1]?.localeCompare(instant.exec(before.text)?.[1] ?? '')).toBe(1)
    })

    it('remembers what the node pulled, and not what an operator looked at', async () => {
      const [node] = nodes
      const stored = () =>
        fleet.db
          .selectFrom('node_heartbeats')
          .select(['pulled_node_revision', 'pulled_peer_revision', 'node_revision'])
          .where('node_id', '=', node.node_id)
          .executeTakeFirstOrThrow()
      await fleet.pull(fleet.root, node.node_id)
      await fleet.service.settled()
      expect(await stored()).toMatchObject({ pulled_node_revision: null, pulled_peer_revision: null })
      const { etag } = await own(node)
      await fleet.service.settled()
      const { node_revision, ...first } = await stored()
      expect(first).toEqual({ pulled_node_revision: node_revision, pulled_peer_revision: '3' })
      await rows.report(node.node_id, 'k', 1)
      await fleet.enrol(domain)
      await own(node, etag)
      await fleet.service.settled()
      const second = await stored()
      expect(second).toMatchObject({ pulled_node_revision: second.node_revision, pulled_peer_revision: '4' })
    })
  })
})

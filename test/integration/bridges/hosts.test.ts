import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sweepEphemerals } from '../../../src/server/slices/nodes/ephemeral-sweeper.ts'
import { unfenced } from '../../support/datastores/leading.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { provider, RELAY, rule, tunnel, withoutSlug } from '../../support/fleet/bridge-fleet.ts'
import type { Enrolled } from '../../support/fleet/fleet.ts'
import { startHostingFleet, type HostingFleet } from '../../support/fleet/hosting-fleet.ts'

const RELAY_CONFIG =
  '{"ingress":[],"relay":{"assignments":[],"enabled":true,"listen_port":51821},"tunnels":[],"user_access":[]}'

describe.each(STORES)('The hosts of a bridge on the $name store', (store) => {
  describe.skipIf(store.missing)('with events and pulls', () => {
    let fleet: HostingFleet
    let one: Enrolled
    let two: Enrolled
    let web: Enrolled
    beforeAll(async () => {
      fleet = await startHostingFleet(store)
    }, 120_000)
    beforeEach(async () => {
      const enrol = () => fleet.enrol(fleet.domainId)
      ;[one, two, web] = [await enrol(), await enrol(), await enrol()]
      await fleet.settle()
    }, 180_000)
    afterAll(() => fleet.stop())

    it('receive the same bytes by event and by pull', async () => {
      const bridge = await fleet.bridge([one.node_id])
      await fleet.make(bridge, 'PUT /relay', RELAY)
      await fleet.make(bridge, 'POST /ingress', rule('shop', web.node_id))
      await fleet.make(bridge, 'POST /site-to-site', tunnel('hq'))
      await fleet.make(bridge, 'POST /user-access', provider('staff', { routing_policy: { é: 1e30, a: ['€', 0.1] } }))
      await fleet.settle()
      const config =
        '{"ingress":[{"acme_account_ref":null,"slug":"shop","sni_host":"shop.example.org","target_node_id":"' +
        `${web.node_id}","target_port":8080}],"relay":{"assignments":[],"enabled":true,"listen_port":51821},` +
        '"tunnels":[{"allowed_subnets":["10.20.0.0/16","10.30.0.0/16"],"auth_secret_ref":"secret:acme/edge/hq",' +
        '"kind":"wireguard","remote_host":"vpn.example.org","remote_port":51820,"routing_policy":"bidirectional",' +
        '"slug":"hq"}],"user_access":[{"auth_secret_ref":"secret:acme/edge/staff","interface_name":"wg-staff",' +
        '"kind":"wireguard","listen_port":51830,"max_peers":50,"routing_policy":{"a":["€",0.1],"é":1e+30},"slug":"staff"}]}'
      expect(fleet.received(one, bridge).at(-1)).toBe(config)
      expect(await fleet.pulled(one, bridge)).toBe(config)
      expect(fleet.received(two, bridge)).toEqual([])
    })

    it('are announced with the configuration only: a bridge without one sends nothing', async () => {
      const bridge = await fleet.bridge([one.node_id])
      const before = await fleet.revisionOf(one)
      expect((await fleet.host(bridge, [two.node_id])).status).toBe(200)
      expect((await fleet.tearDown(bridge)).status).toBe(204)
      expect(await fleet.eventsOf(bridge)).toEqual([])
      expect(await fleet.revisionOf(one)).toBe(before)
    })

    it('that join receive the configuration, and those that leave receive its end, by one event', async () => {
      const bridge = await fleet.bridge([one.node_id])
      await fleet.make(bridge, 'PUT /relay', RELAY)
      await fleet.settle()
      expect(fleet.received(one, bridge)).toEqual([RELAY_CONFIG])
      const before = [await fleet.revisionOf(one), await fleet.revisionOf(two)]
      const answer = await fleet.host(bridge, [two.node_id])
      expect((await fleet.outbox(answer)).map(({ event, payload }) => [event, payload])).toEqual([
        ['bridge.RelayConfigured', { bridge_resource_id: bridge.id, aggregate_id: `${bridge.id}/relay`, slug: '' }],
        ['ResourceUpdated', expect.anything()],
      ])
      await fleet.settle()
      expect(fleet.received(one, bridge)).toEqual(['{}'])
      expect(fleet.received(two, bridge)).toEqual([RELAY_CONFIG])
      expect([await fleet.pulled(one, bridge), await fleet.pulled(two, bridge)]).toEqual([undefined, RELAY_CONFIG])
      expect([await fleet.revisionOf(one), await fleet.revisionOf(two)]).toEqual(before.map((number) => number + 1))
    })

    it('that stay the same are not announced again', async () => {
      const bridge = await fleet.bridge([one.node_id])
      await fleet.make(bridge, 'PUT /relay', RELAY)
      const answer = await fleet.host(bridge, [one.node_id])
      expect((await fleet.outbox(answer)).map(({ event }) => event)).toEqual(['ResourceUpdated'])
    })

    it.each([
      ['the relay', 'PUT /relay', { enabled: false, listen_port: 8080 }, 'relay'],
      ['a provider', 'POST /user-access', provider('staff', { listen_port: 8080 }), 'user-access/staff'],
    ])('must not be the target of a rule on a port of %s', async (_, operation, body, name) => {
      const bridge = await fleet.bridge([one.node_id])
      await fleet.make(bridge, operation, body)
      await fleet.make(bridge, 'POST /ingress', rule('shop', web.node_id))
      const answer = await fleet.host(bridge, [one.node_id, web.node_id])
      expect([answer.status, answer.body['code']]).toEqual([409, 'bridge_port_conflict'])
      expect(answer.body).toMatchObject({ port: 8080, conflicts_with: name })
      expect(await fleet.outbox(answer)).toEqual([])
      expect(await fleet.audit(answer)).toMatchObject({ relation: 'resource.update', outcome: 'invariant_violation' })
      await fleet.make(bridge, 'PATCH /ingress/shop', withoutSlug(rule('shop', web.node_id, { target_port: 8081 })))
      expect((await fleet.host(bridge, [one.node_id, web.node_id])).status).toBe(200)
    })

    it('receive one end of a bridge that is deleted, with all that it claimed', async () => {
      const bridge = await fleet.bridge([one.node_id, two.node_id])
      await fleet.make(bridge, 'PUT /relay', RELAY)
      await fleet.make(bridge, 'POST /user-access', provider('staff'))
      await fleet.make(bridge, 'POST /ingress', rule('shop', web.node_id))
      await fleet.make(bridge, 'POST /site-to-site', tunnel('hq'))
      await fleet.settle()
      fleet.received(one, bridge)
      fleet.received(two, bridge)
      const before = await fleet.revisionOf(one)
      const answer = await fleet.tearDown(bridge)
      expect(answer.status).toBe(204)
      expect((await fleet.outbox(answer)).map(({ event }) => event)).toEqual([
        'bridge.RelayConfigured',
        'ResourceDeleted',
      ])
      await fleet.settle()
      expect([fleet.received(one, bridge), fleet.received(two, bridge)]).toEqual([['{}'], ['{}']])
      expect(await fleet.pulled(one, bridge)).toBeUndefined()
      expect(await fleet.revisionOf(one)).toBe(before + 1)
      for (const table of TABLES) {
        const rows = fleet.db.selectFrom(table).select('resource_id').where('resource_id', '=', bridge.id)
        expect([table, await rows.execute()]).toEqual([table, []])
      }
    })

    describe('when the target of a rule is deregistered', () => {
      const gone = async (node: Enrolled) => {
        expect((await fleet.call(fleet.root, `DELETE /v1/nodes/${node.node_id}`)).status).toBe(204)
        await fleet.settle()
      }

      it('receive the configuration without the rule, by one event; the rule stays', async () => {
        const bridge = await fleet.bridge([one.node_id])
        await fleet.make(bridge, 'PUT /relay', RELAY)
        for (const [index, slug] of ['a', 'b'].entries())
          await fleet.make(bridge, 'POST /ingress', rule(slug, web.node_id, { target_port: 81 + index }))
        await fleet.settle()
        fleet.received(one, bridge)
        const before = await fleet.eventsOf(bridge)
        await gone(web)
        expect((await fleet.eventsOf(bridge)).slice(before.length)).toEqual([
          ['bridge.RelayConfigured', { bridge_resource_id: bridge.id, aggregate_id: `${bridge.id}/relay`, slug: '' }],
        ])
        expect(fleet.received(one, bridge)).toEqual([RELAY_CONFIG])
        expect(await fleet.pulled(one, bridge)).toBe(RELAY_CONFIG)
        expect((await fleet.on(bridge, 'GET /ingress/a')).body).toMatchObject({ target_node_id: web.node_id })
        const again = await fleet.on(bridge, 'PATCH /ingress/a', {
          sni_host: 'a.example.org',
          target_node_id: web.node_id,
          target_port: 9,
        })
        expect([again.status, again.body['code']]).toEqual([400, 'target_node_not_in_domain'])
      })

      it('receive it also where the node was ephemeral and went silent', async () => {
        const brief = await fleet.enrol(fleet.domainId, {}, { ephemeral: true })
        const bridge = await fleet.bridge([one.node_id])
        await fleet.make(bridge, 'POST /ingress', rule('shop', brief.node_id))
        await fleet.settle()
        fleet.received(one, bridge)
        fleet.wait(3_600_000)
        const onFailure = (error: unknown): never => {
          throw error
        }
        expect(await sweepEphemerals({ ...fleet, onFailure }, unfenced(fleet))).toBeGreaterThan(0)
        await fleet.settle()
        expect(fleet.received(one, bridge)).toEqual(['{"ingress":[],"relay":null,"tunnels":[],"user_access":[]}'])
      })

      it('receive every bridge with such a rule once, and no other', async () => {
        const make = () => fleet.bridge([one.node_id])
        const bridges = [await make(), await make(), await make()] as const
        const [first, second, other] = bridges
        for (const bridge of [first, second]) await fleet.make(bridge, 'POST /ingress', rule('shop', web.node_id))
        await fleet.make(other, 'POST /ingress', rule('shop', two.node_id))
        await fleet.settle()
        const before = await fleet.revisionOf(one)
        await gone(web)
        const counts = await Promise.all(bridges.map(async (bridge) => (await fleet.eventsOf(bridge)).length))
        expect(counts).toEqual([2, 2, 1])
        expect(await fleet.revisionOf(one)).toBe(before + 1)
      })
    })

    it('leave a bridge when they are deregistered', async () => {
      const bridge = await fleet.bridge([one.node_id, two.node_id])
      await fleet.make(bridge, 'PUT /relay', RELAY)
      await fleet.call(fleet.root, `DELETE /v1/nodes/${one.node_id}`)
      await fleet.settle()
      const { body } = await fleet.call(fleet.root, `GET /v1/projects/${fleet.projectId}/resources/${bridge.id}`)
      expect(body['host_node_ids']).toEqual([two.node_id])
    })
  })
})

const TABLES = [
  'bridge_relays',
  'bridge_user_access',
  'bridge_ingress_rules',
  'bridge_tunnels',
  'bridge_listen_ports',
  'bridge_tunnel_subnets',
  'bridge_secret_refs',
  'bridge_configs',
  'bridge_addressees',
] as const

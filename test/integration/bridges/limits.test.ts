import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { STORES } from '../../support/datastores/stores.ts'
import {
  provider,
  rule,
  startBridgeFleet,
  tunnel,
  type BridgeFleet,
  type BridgeUnderTest,
} from '../../support/fleet/bridge-fleet.ts'

const AT = new Date('2026-03-01T08:00:00.000Z')
const CONFIG_BYTES_MAX = 512 * 1024

describe.each(STORES)('The limits of a bridge on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: BridgeFleet
    let bridge: BridgeUnderTest
    let target: string
    beforeAll(async () => {
      fleet = await startBridgeFleet(store)
      target = await fleet.node({ domainId: fleet.domainId })
    })
    beforeEach(async () => {
      bridge = await fleet.bridge()
    })
    afterAll(() => fleet.stop())

    const times = { created_at: AT, updated_at: AT }
    const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

    const policyOf = (bytes: number) => JSON.stringify({ a: 'x'.repeat(bytes - 8) })

    const providerRow = (index: number, routing_policy = '{}') => ({
      resource_id: bridge.id,
      slug: `p-${index}`,
      kind: 'wireguard' as const,
      interface_name: `wg${index}`,
      listen_port: 1000 + index,
      max_peers: 1,
      auth_secret_ref: 'secret:acme/edge/key',
      routing_policy,
      ...times,
    })

    it('are 256 ingress rules', async () => {
      const rows = numbers(255).map((index) => ({
        resource_id: bridge.id,
        slug: `r-${index}`,
        sni_host: `r-${index}.example.org`,
        target_node_id: target,
        target_port: 1000 + index,
        acme_account_ref: null,
        ...times,
      }))
      await fleet.db.insertInto('bridge_ingress_rules').values(rows).execute()
      await fleet.make(bridge, 'POST /ingress', rule('last', target))
      await expectFull('POST /ingress', rule('more', target, { target_port: 9 }), '256 ingress rules')
    })

    it('are 64 user-access providers', async () => {
      await fleet.db
        .insertInto('bridge_user_access')
        .values(numbers(63).map((index) => providerRow(index)))
        .execute()
      await fleet.make(bridge, 'POST /user-access', provider('last'))
      await expectFull('POST /user-access', provider('more', { listen_port: 9 }), '64 user-access providers')
    })

    it('are 128 tunnels', async () => {
      const rows = numbers(127).map((index) => ({
        resource_id: bridge.id,
        slug: `t-${index}`,
        kind: 'ipsec' as const,
        remote_host: 'vpn.example.org',
        remote_port: 500,
        auth_secret_ref: 'secret:acme/edge/key',
        allowed_subnets: [`172.16.${index}.0/24`],
        routing_policy: 'bidirectional' as const,
        ...times,
      }))
      await fleet.db.insertInto('bridge_tunnels').values(rows).execute()
      await fleet.make(bridge, 'POST /site-to-site', tunnel('last'))
      await expectFull(
        'POST /site-to-site',
        tunnel('more', { allowed_subnets: ['10.9.0.0/16'] }),
        '128 site-to-site tunnels',
      )
    })

    it('are 512 KiB of configuration, to the byte', async () => {
      const rows = numbers(62).map((index) => providerRow(index, policyOf(8192)))
      await fleet.db.insertInto('bridge_user_access').values(rows).execute()
      const last = (name: string) => provider('last', { routing_policy: { a: name } })
      await fleet.make(bridge, 'POST /user-access', last(''))
      const left = CONFIG_BYTES_MAX - (await sizeOf())
      expect(left).toBeGreaterThan(0)
      // The stored rows take what a body is too small for.
      const grown = policyOf(8192 + left - 1)
      await fleet.db
        .updateTable('bridge_user_access')
        .set({ routing_policy: grown })
        .where('slug', '=', 'p-0')
        .execute()
      const { slug: _slug, ...oneByte } = last('x')
      await fleet.make(bridge, 'PATCH /user-access/last', oneByte)
      expect(await sizeOf()).toBe(CONFIG_BYTES_MAX)
      const { slug: __slug, ...twoBytes } = last('xx')
      await expectFull('PATCH /user-access/last', twoBytes, '512 KiB of configuration')
      expect(await sizeOf()).toBe(CONFIG_BYTES_MAX)
    })

    it('admit changes that add no part', async () => {
      const rows = numbers(64).map((index) => providerRow(index))
      await fleet.db.insertInto('bridge_user_access').values(rows).execute()
      const { slug: _slug, ...body } = provider('p-0', { listen_port: 4 })
      await fleet.make(bridge, 'PATCH /user-access/p-0', body)
      await fleet.make(bridge, 'DELETE /user-access/p-0')
    })

    async function sizeOf(): Promise<number> {
      const row = fleet.db.selectFrom('bridge_configs').select('effective_config').where('resource_id', '=', bridge.id)
      return Buffer.byteLength((await row.executeTakeFirstOrThrow()).effective_config)
    }

    async function expectFull(operation: string, body: unknown, limit: string): Promise<void> {
      const before = await fleet.eventsOf(bridge)
      const answer = await fleet.on(bridge, operation, body)
      expect([answer.status, answer.body['code'], answer.body['limit']]).toEqual([409, 'bridge_limit_exceeded', limit])
      expect(await fleet.outbox(answer)).toEqual([])
      expect(await fleet.eventsOf(bridge)).toEqual(before)
      expect(await fleet.audit(answer)).toMatchObject({
        outcome: 'invariant_violation',
        reason: 'bridge_limit_exceeded',
      })
    }
  })
})

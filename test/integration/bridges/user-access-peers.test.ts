import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hostReportKey } from '../../../src/shared/bridges/host-report.ts'
import { freshPublicKey } from '../../conformance/world.ts'
import { STORES } from '../../support/datastores/stores.ts'
import {
  provider,
  startBridgeFleet,
  tunnel,
  withoutSlug,
  type BridgeFleet,
  type BridgeUnderTest,
} from '../../support/fleet/bridge-fleet.ts'

const KEYS = Array.from({ length: 4 }, freshPublicKey).toSorted()
const [FIRST = '', SECOND = '', THIRD = '', FOURTH = ''] = KEYS
const AT = '2026-03-01T08:00:00.000Z'

describe.each(STORES)('The peers of a user-access provider on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: BridgeFleet
    let bridge: BridgeUnderTest
    let host: string
    beforeAll(async () => {
      fleet = await startBridgeFleet(store)
    }, 180_000)
    afterAll(() => fleet?.stop(), 60_000)
    beforeEach(async () => {
      host = await fleet.node({ domainId: fleet.domainId })
      bridge = await fleet.bridge([host])
    })

    const staff = (members: object = {}) => provider('staff', { peer_subnet: '10.99.0.0/24', ...members })
    const make = (members: object = {}) => fleet.make(bridge, 'POST /user-access', staff(members))
    const add = (name: string, public_key: string) =>
      fleet.on(bridge, 'POST /user-access/staff/peers', { name, public_key })
    const remove = (name: string) => fleet.on(bridge, `DELETE /user-access/staff/peers/${name}`)
    const update = (members: object) => fleet.on(bridge, 'PATCH /user-access/staff', withoutSlug(staff(members)))
    const code = ({ status, body }: Awaited<ReturnType<typeof add>>) => [status, body['code']]
    const wanted = async () => {
      const config = await fleet.configOf(bridge)
      const providers = (config?.['user_access'] ?? []) as readonly Readonly<Record<string, unknown>>[]
      return providers[0]
    }

    it('get the lowest free address, and the hosts receive keys and addresses, by key', async () => {
      await make()
      const answer = await add('ann-phone', SECOND)
      expect([answer.status, answer.body]).toEqual([
        201,
        {
          resource_id: bridge.id,
          provider: 'staff',
          name: 'ann-phone',
          public_key: SECOND,
          address: '10.99.0.2',
          created_at: AT,
        },
      ])
      expect(answer.headers.get('location')).toBe(`${bridge.at}/user-access/staff/peers/ann-phone`)
      expect((await add('bob', FIRST)).body['address']).toBe('10.99.0.3')
      expect(await wanted()).toMatchObject({
        peer_subnet: '10.99.0.0/24',
        peers: [
          { public_key: FIRST, address: '10.99.0.3' },
          { public_key: SECOND, address: '10.99.0.2' },
        ],
      })
      expect(await fleet.outbox(answer)).toEqual([
        {
          event: 'bridge.UserAccessProviderConfigured',
          domain_id: fleet.domainId,
          aggregate: `resource:${bridge.id}`,
          payload: {
            bridge_resource_id: bridge.id,
            aggregate_id: `${bridge.id}/user-access/staff`,
            slug: 'staff',
          },
        },
      ])
      expect(await fleet.audit(answer)).toMatchObject({
        relation: 'bridge.user_access.peer.create',
        outcome: 'granted',
      })
      expect((await remove('ann-phone')).status).toBe(204)
      expect((await add('cyd', THIRD)).body['address']).toBe('10.99.0.2')
    })

    it('are listed by name, with the mesh and what each host reports', async () => {
      await make()
      await add('b', FIRST)
      await add('a', SECOND)
      const empty = await fleet.on(bridge, 'GET /user-access/staff/peers')
      expect((empty.body['items'] as readonly { readonly name: string }[]).map(({ name }) => name)).toEqual(['a', 'b'])
      expect(empty.body['mesh_cidr']).toMatch(/^100\./)
      const [unknown] = empty.body['hosts'] as readonly object[]
      expect(unknown).toMatchObject({ node_id: host, public_key: null, address: null })
      expect(await fleet.audit(empty)).toMatchObject({ relation: 'bridge.user_access.peer.list', outcome: 'granted' })

      const value = { fingerprint: null, applied_at: null, public_keys: { staff: THIRD, other: FOURTH } }
      await fleet.db
        .insertInto('node_state_reports')
        .values({ node_id: host, key: hostReportKey(bridge.id), value: JSON.stringify(value), updated_at: new Date() })
        .execute()
      const known = await fleet.on(bridge, 'GET /user-access/staff/peers')
      expect(known.body['hosts']).toEqual([expect.objectContaining({ node_id: host, public_key: THIRD })])
      const named = provider('constructor', { interface_name: 'wg-other', listen_port: 7 })
      await fleet.make(bridge, 'POST /user-access', named)
      const other = await fleet.on(bridge, 'GET /user-access/constructor/peers')
      expect(other.body['hosts']).toEqual([expect.objectContaining({ node_id: host, public_key: null })])
    })

    it('have a name and a public key that no other one of the provider has', async () => {
      await make()
      await add('ann', FIRST)
      const named = await add('ann', SECOND)
      expect(code(named)).toEqual([409, 'peer_name_conflict'])
      expect(await fleet.audit(named)).toMatchObject({ outcome: 'identity_conflict', reason: 'peer_name_conflict' })
      expect(code(await add('bob', FIRST))).toEqual([409, 'peer_key_conflict'])
      expect(code(await add('Not A Name', SECOND))).toEqual([400, 'invalid_slug'])
      const refused = ['short', `${'A'.repeat(43)}=`, `${'/'.repeat(42)}8=`]
      for (const key of refused) expect(code(await add('bob', key)), key).toEqual([400, 'invalid_public_key'])
    })

    it('are refused beyond max_peers, beyond the subnet, and without a subnet', async () => {
      await make({ max_peers: 1 })
      await add('ann', FIRST)
      const full = await add('bob', SECOND)
      expect([...code(full), full.body['limit']]).toEqual([409, 'max_peers_reached', 1])
      await remove('ann')
      expect((await update({ max_peers: 9, peer_subnet: '10.99.0.0/30' })).status).toBe(200)
      await add('ann', FIRST)
      const exhausted = await add('bob', SECOND)
      expect([...code(exhausted), exhausted.body['limit']]).toEqual([409, 'max_peers_reached', 1])
      await remove('ann')
      expect((await update({ peer_subnet: null })).status).toBe(200)
      expect(code(await add('ann', FIRST))).toEqual([409, 'peer_subnet_missing'])
    })

    it('keep their subnet where a change does not name it', async () => {
      await make()
      await add('ann', FIRST)
      const { peer_subnet: _unknown, ...old } = staff({ max_peers: 7 })
      const { slug: _slug, ...body } = old as { readonly slug: string }
      const answer = await fleet.on(bridge, 'PATCH /user-access/staff', body)
      expect([answer.status, answer.body['peer_subnet'], answer.body['max_peers']]).toEqual([200, '10.99.0.0/24', 7])
      expect((await add('bob', SECOND)).status).toBe(201)
    })

    it('keep a subnet and a number of peers that fit them', async () => {
      await make()
      await add('ann', FIRST)
      await add('bob', SECOND)
      for (const peer_subnet of [null, '10.98.0.0/24', '10.99.0.0/30'])
        expect(code(await update({ peer_subnet }))).toEqual([409, 'peer_subnet_in_use'])
      expect(code(await update({ max_peers: 1 }))).toEqual([409, 'max_peers_reached'])
      expect((await update({ peer_subnet: '10.99.0.0/16', max_peers: 2 })).status).toBe(200)
      const { body } = await fleet.on(bridge, 'POST /check', { user_access: [staff({ max_peers: 1 })] })
      expect((body['conflicts'] as readonly { readonly code: string }[]).map((each) => each.code)).toContain(
        'max_peers_reached',
      )
    })

    it('have a subnet that overlaps neither the mesh, nor a tunnel, nor another provider, whichever came first', async () => {
      await make()
      const other = (peer_subnet: string) =>
        fleet.on(bridge, 'POST /user-access', provider('other', { listen_port: 7, peer_subnet }))
      const mesh = await other('100.64.0.0/24')
      expect([...code(mesh), mesh.body['subnet']]).toEqual([409, 'subnet_overlap_with_mesh', '100.64.0.0/24'])
      const same = await other('10.99.0.128/25')
      expect([...code(same), same.body['conflicts_with']]).toEqual([
        409,
        'subnet_overlap_with_user_access',
        'user-access/staff',
      ])
      const covering = await fleet.on(bridge, 'POST /site-to-site', tunnel('hq', { allowed_subnets: ['10.0.0.0/8'] }))
      expect([...code(covering), covering.body['conflicts_with']]).toEqual([
        409,
        'subnet_overlap_with_user_access',
        'user-access/staff',
      ])
      await fleet.make(bridge, 'POST /site-to-site', tunnel('hq', { allowed_subnets: ['10.50.0.0/16'] }))
      expect(code(await other('10.50.7.0/24'))).toEqual([409, 'subnet_overlap_with_tunnel'])
      for (const malformed of ['10.50.7.1/24', '2001:db8::/64', '10.50.7.0/31', '10.50.7.0', '127.0.0.0/24'])
        expect(code(await other(malformed))).toEqual([400, 'invalid_body'])
    })

    it('are deleted with their provider, and are 404 where there is none', async () => {
      await make()
      await add('ann', FIRST)
      expect(code(await remove('bob'))).toEqual([404, 'user_access_peer_not_found'])
      await fleet.make(bridge, 'DELETE /user-access/staff')
      expect(code(await remove('ann'))).toEqual([404, 'user_access_provider_not_found'])
      expect(code(await add('ann', FIRST))).toEqual([404, 'user_access_provider_not_found'])
      expect(code(await fleet.on(bridge, 'GET /user-access/staff/peers'))).toEqual([
        404,
        'user_access_provider_not_found',
      ])
      await make()
      expect((await fleet.on(bridge, 'GET /user-access/staff/peers')).body['items']).toEqual([])
    })

    it('get different addresses when they are added at once', async () => {
      await make()
      const answers = await Promise.all(KEYS.map((key, index) => add(`peer-${index}`, key)))
      const addresses = answers.map(({ body }) => String(body['address']))
      expect(addresses.toSorted()).toEqual(['10.99.0.2', '10.99.0.3', '10.99.0.4', '10.99.0.5'])
    })
  })
})

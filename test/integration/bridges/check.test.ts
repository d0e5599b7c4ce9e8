import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CONFIG_BYTES_MAX } from '../../../src/server/bridges/effective-config.ts'
import { problem } from '../../../src/shared/problems.ts'
import { STORES } from '../../support/datastores/stores.ts'
import {
  provider,
  RELAY,
  rule,
  startBridgeFleet,
  tunnel,
  type BridgeFleet,
  type BridgeUnderTest,
} from '../../support/fleet/bridge-fleet.ts'

const DIRECTORY = 'https://acme.example.org/directory'

describe.each(STORES)('The check of a bridge on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: BridgeFleet
    let host: string
    let web: string
    let bridge: BridgeUnderTest
    /** References that the directories were asked for, oldest first. */
    const asked: string[] = []

    beforeAll(async () => {
      fleet = await startBridgeFleet(store, { surfaces: ['secrets'] })
      for (const name of ['hq', 'staff'])
        await fleet.call(fleet.root, `PUT /v1/projects/${fleet.projectId}/secrets/${name}`, { value: 'x' })
    }, 180_000)
    beforeEach(async () => {
      host = await fleet.node({ domainId: fleet.domainId })
      web = await fleet.node({ domainId: fleet.domainId })
      bridge = await fleet.bridge([host])
      asked.length = 0
      // Bridges of earlier tests have the same subnets.
      await fleet.db.deleteFrom('bridge_tunnels').execute()
      await fleet.db.deleteFrom('bridge_user_access').execute()
      fleet.acme.check = async (ref) => void asked.push(ref)
    })
    afterAll(() => fleet?.stop())

    const check = async (body: unknown = {}, as = fleet.root) => {
      const answer = await fleet.call(as, `POST ${bridge.at}/check`, body)
      expect(answer.status, JSON.stringify(answer.body)).toBe(200)
      expect(answer.body['resource_id']).toBe(bridge.id)
      return answer.body['conflicts']
    }
    const conflict = (code: string, part: string, other: string | null, detail: string) => ({
      code,
      part,
      conflicts_with: other,
      detail,
    })

    it('finds nothing in a bridge without parts, and in one whose parts agree', async () => {
      expect(await check()).toEqual([])
      await fleet.make(bridge, 'PUT /relay', RELAY)
      await fleet.make(bridge, 'POST /user-access', provider('staff'))
      await fleet.make(bridge, 'POST /ingress', rule('shop', web, { acme_account_ref: DIRECTORY }))
      await fleet.make(bridge, 'POST /site-to-site', tunnel('hq', { allowed_subnets: ['10.0.0.0/8', '10.20.0.0/16'] }))
      expect(await check()).toEqual([])
    })

    it('names subnets that another bridge of the Domain has, and which of the two counts', async () => {
      await fleet.make(bridge, 'POST /site-to-site', tunnel('hq', { allowed_subnets: ['10.20.0.0/16'] }))
      const first = bridge
      bridge = await fleet.bridge([host])
      await fleet.make(bridge, 'POST /site-to-site', tunnel('b', { allowed_subnets: ['10.20.7.0/24', '10.21.0.0/16'] }))
      const told = (subnet: string, other: string, way: string) =>
        `${subnet} overlaps a subnet of ${other} of the Domain: nodes reach what both have through ${way}.`
      expect(await check()).toEqual([
        conflict(
          'subnet_overlap_with_bridge',
          'site-to-site/b',
          null,
          told('10.20.7.0/24', `the bridge ${first.id}`, 'that one'),
        ),
      ])
      const viewer = await fleet.holder(fleet.domainId, 'viewer', `resource:${bridge.id}`)
      expect(await check({}, viewer)).toMatchObject([{ detail: told('10.20.7.0/24', 'another bridge', 'that one') }])
      // What is only proposed is compared for those who may write it.
      const probe = { site_to_site: [tunnel('probe', { allowed_subnets: ['10.20.8.0/24'] })] }
      expect(await check(probe)).toHaveLength(2)
      expect(await check(probe, viewer)).toHaveLength(1)
      const second = bridge
      bridge = first
      expect(await check()).toMatchObject([
        { part: 'site-to-site/hq', detail: told('10.20.0.0/16', `the bridge ${second.id}`, 'this bridge') },
      ])
      expect(await check({ site_to_site: [tunnel('hq', { allowed_subnets: ['10.30.0.0/16'] })] })).toEqual([])
    })

    it('names parts whose subnets the Domain does not let bridges lead to', async () => {
      const subnets = ['10.20.0.0/16', '203.0.113.0/24', '198.51.100.0/24']
      await fleet.make(bridge, 'POST /site-to-site', tunnel('hq', { allowed_subnets: subnets }))
      await fleet.make(bridge, 'POST /user-access', provider('staff', { peer_subnet: '11.0.0.0/24' }))
      const told = (subnet: string) =>
        `${subnet} is outside of the routed networks of the Domain: its nodes do not reach it through this bridge.`
      expect(await check()).toEqual([
        conflict('subnet_not_routed', 'user-access/staff', null, told('11.0.0.0/24')),
        conflict('subnet_not_routed', 'site-to-site/hq', null, told('198.51.100.0/24 (and 1 more)')),
      ])
      const networks = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']
      const allow = async (more: readonly string[]) =>
        fleet.call(fleet.root, `PATCH /v1/domains/${fleet.domainId}`, { routed_networks: [...networks, ...more] })
      expect((await allow(['198.51.100.0/23', '203.0.113.0/24', '11.0.0.0/8'])).status).toBe(200)
      expect(await check()).toEqual([])
      expect((await allow([])).status).toBe(200)
    })

    it('leaves out bridges without hosts, and says nothing of other bridges where it has none itself', async () => {
      await fleet.make(bridge, 'POST /site-to-site', tunnel('hq', { allowed_subnets: ['10.20.0.0/16'] }))
      bridge = await fleet.bridge([])
      await fleet.make(bridge, 'POST /site-to-site', tunnel('b', { allowed_subnets: ['10.20.7.0/24'] }))
      expect(await check()).toEqual([])
      const hostless = bridge
      bridge = await fleet.bridge([host])
      const probe = { site_to_site: [tunnel('c', { allowed_subnets: ['10.20.7.0/24'] })] }
      expect(await check(probe)).toHaveLength(1)
      expect(hostless.id).not.toBe(bridge.id)
    })

    it('names networks of devices that another bridge of the Domain leads to', async () => {
      await fleet.make(bridge, 'POST /site-to-site', tunnel('hq', { allowed_subnets: ['10.20.0.0/16'] }))
      const first = bridge
      bridge = await fleet.bridge([host])
      await fleet.make(bridge, 'POST /user-access', provider('staff', { peer_subnet: '10.20.7.0/24' }))
      const code = 'subnet_overlap_with_bridge'
      expect(await check()).toMatchObject([{ code, part: 'user-access/staff' }])
      bridge = first
      expect(await check()).toMatchObject([{ code, part: 'site-to-site/hq' }])
    })

    it('names every conflict of the parts that it is given, with stored ones and with each other', async () => {
      await fleet.make(bridge, 'PUT /relay', RELAY)
      await fleet.make(bridge, 'POST /ingress', rule('shop', web))
      await fleet.make(bridge, 'POST /site-to-site', tunnel('hq'))
      const elsewhere = await fleet.node({ domainId: await fleet.domain() })
      const conflicts = await check({
        user_access: [
          provider('a', { listen_port: RELAY.listen_port, interface_name: 'wg0' }),
          provider('b', { listen_port: 1, interface_name: 'wg0', auth_secret_ref: 'secret:acme/other/staff' }),
        ],
        ingress: [
          rule('a', web, { sni_host: 'shop.example.org' }),
          rule('b', host, { target_port: RELAY.listen_port }),
          rule('c', elsewhere),
        ],
        site_to_site: [tunnel('a', { allowed_subnets: ['10.20.5.0/24', '0.0.0.0/0', '2001:db8::/32'] })],
      })
      expect(conflicts).toEqual([
        conflict('bridge_port_conflict', 'user-access/a', 'relay', 'relay has claimed port 51821.'),
        conflict(
          'secret_ref_malformed',
          'user-access/b',
          null,
          'secret:acme/other/staff is not a secret of the Project of the bridge.',
        ),
        conflict(
          'interface_name_conflict',
          'user-access/b',
          'user-access/a',
          'user-access/a has the same interface name.',
        ),
        conflict('bridge_port_conflict', 'ingress/a', 'ingress/shop', 'ingress/shop has claimed port 8080.'),
        conflict('slug_conflict', 'ingress/a', 'ingress/shop', 'ingress/shop has the same server name.'),
        conflict('bridge_port_conflict', 'ingress/b', 'relay', 'relay has claimed port 51821.'),
        conflict('bridge_port_conflict', 'ingress/b', 'user-access/a', 'user-access/a has claimed port 51821.'),
        conflict(
          'target_node_not_in_domain',
          'ingress/c',
          null,
          `The target ${elsewhere} is not a node of the Domain of the bridge.`,
        ),
        conflict('subnet_overlap_with_mesh', 'site-to-site/a', null, '0.0.0.0/0 overlaps the mesh, 100.64.0.0/10.'),
        conflict(
          'subnet_overlap_with_tunnel',
          'site-to-site/a',
          'site-to-site/hq',
          '0.0.0.0/0 overlaps a subnet of site-to-site/hq.',
        ),
        conflict(
          'subnet_overlap_with_tunnel',
          'site-to-site/a',
          'site-to-site/hq',
          '10.20.5.0/24 overlaps a subnet of site-to-site/hq.',
        ),
        conflict(
          'subnet_not_routed',
          'site-to-site/a',
          null,
          '0.0.0.0/0 (and 1 more) is outside of the routed networks of the Domain: its nodes do not reach it through this bridge.',
        ),
      ])
    })

    it('puts a part in the place of the stored one, and writes nothing but its audit row', async () => {
      await fleet.make(bridge, 'PUT /relay', RELAY)
      await fleet.make(bridge, 'POST /ingress', rule('shop', web))
      const before = await fleet.configOf(bridge)
      const events = await fleet.eventsOf(bridge)
      const body = { relay: { enabled: false, listen_port: 8080 }, ingress: [rule('shop', host)] }
      const answer = await fleet.on(bridge, 'POST /check', body)
      expect(answer.body['conflicts']).toEqual([
        conflict('bridge_port_conflict', 'ingress/shop', 'relay', 'relay has claimed port 8080.'),
      ])
      expect(await check({ relay: { enabled: true, listen_port: 1 } })).toEqual([])
      expect(await fleet.configOf(bridge)).toEqual(before)
      expect(await fleet.eventsOf(bridge)).toEqual(events)
      expect(await fleet.outbox(answer)).toEqual([])
      expect(await fleet.audit(answer)).toEqual({
        relation: 'bridge.check',
        object: `resource:${bridge.id}`,
        outcome: 'granted',
        reason: 'granted',
        domainId: fleet.domainId,
      })
    })

    it('names what has become wrong: a target that is gone, hosts that a relay lacks', async () => {
      bridge = await fleet.bridge([])
      await fleet.make(bridge, 'PUT /relay', RELAY)
      await fleet.make(bridge, 'POST /ingress', rule('shop', web))
      await fleet.db.deleteFrom('nodes').where('id', '=', web).execute()
      expect(await check()).toEqual([
        conflict(
          'target_node_not_in_domain',
          'ingress/shop',
          null,
          `The target ${web} is not a node of the Domain of the bridge.`,
        ),
        conflict('relay_without_hosts', 'relay', null, 'The relay is enabled, but no node hosts the bridge.'),
      ])
      expect(await check({ relay: { ...RELAY, enabled: false }, ingress: [rule('shop', host)] })).toEqual([])
    })

    it('names secrets that do not exist, and versions', async () => {
      await fleet.make(bridge, 'POST /user-access', provider('staff', { auth_secret_ref: 'secret:acme/edge/gone' }))
      await fleet.make(bridge, 'POST /site-to-site', tunnel('hq', { auth_secret_ref: 'secret:acme/edge/hq:1' }))
      const site_to_site = [
        tunnel('b', { auth_secret_ref: 'secret:acme/edge/hq:2', allowed_subnets: ['10.40.0.0/16'] }),
      ]
      const ingress = [rule('shop', web, { acme_account_ref: 'secret:acme/edge/acme' })]
      expect(await check({ ingress, site_to_site })).toEqual([
        conflict('secret_not_found', 'user-access/staff', null, 'secret:acme/edge/gone does not exist.'),
        conflict('secret_not_found', 'ingress/shop', null, 'secret:acme/edge/acme does not exist.'),
        conflict('secret_not_found', 'site-to-site/b', null, 'secret:acme/edge/hq:2 does not exist.'),
      ])
      expect(asked).toEqual([])
    })

    it('names ACME directories that do not answer, and asks each once', async () => {
      fleet.acme.check = async (ref) => {
        asked.push(ref)
        if (ref === DIRECTORY) throw problem('acme_directory_unreachable', { reason: 'It answered 500.' })
        if (ref.startsWith('secret:')) throw problem('secret_store_unavailable')
      }
      const at = (slug: string, ref: string) =>
        rule(slug, web, { target_port: slug.charCodeAt(0), acme_account_ref: ref })
      const ingress = [
        at('a', DIRECTORY),
        at('b', 'https://other.example.org/'),
        at('c', DIRECTORY),
        at('d', 'secret:acme/edge/hq'),
      ]
      expect(await check({ ingress })).toEqual([
        conflict('acme_directory_unreachable', 'ingress/a', null, 'It answered 500.'),
        conflict('acme_directory_unreachable', 'ingress/c', null, 'It answered 500.'),
        conflict('secret_store_unavailable', 'ingress/d', null, expect.stringMatching(/\.$/) as string),
      ])
      expect(asked.toSorted()).toEqual([DIRECTORY, 'https://other.example.org/', 'secret:acme/edge/hq'])
    })

    it('asks at most 16 directories, 8 at once', async () => {
      let [open, most] = [0, 0]
      fleet.acme.check = async (ref) => {
        asked.push(ref)
        open += 1
        most = Math.max(most, open)
        await new Promise(setImmediate)
        open -= 1
      }
      const ingress = Array.from({ length: 17 }, (_, n) =>
        rule(`r-${10 + n}`, web, { target_port: 1 + n, acme_account_ref: `https://acme.example.org/${n}` }),
      )
      expect(await check({ ingress })).toEqual([
        conflict('acme_directory_not_checked', 'ingress/r-26', null, expect.stringContaining('16') as string),
      ])
      expect([asked.length, most]).toEqual([16, 8])
    })

    it('looks up only what the bridge names where the caller may not manage it', async () => {
      await fleet.make(bridge, 'POST /ingress', rule('shop', web, { acme_account_ref: DIRECTORY }))
      asked.length = 0
      const ingress = [
        rule('a', web, { target_port: 1, acme_account_ref: 'https://other.example.org/' }),
        rule('b', web, { target_port: 2, acme_account_ref: DIRECTORY }),
      ]
      const site_to_site = [tunnel('hq', { auth_secret_ref: 'secret:acme/edge/gone' })]
      const viewer = await fleet.holder(fleet.domainId, 'viewer', `project:${fleet.projectId}`)
      expect(await check({ ingress, site_to_site }, viewer)).toEqual([])
      expect(asked).toEqual([DIRECTORY])
      expect(await check({ ingress, site_to_site })).toHaveLength(1)
    })

    it('names assignments that do not fit, and a configuration that is too long', async () => {
      await fleet.make(bridge, 'PUT /relay', RELAY)
      await fleet.make(bridge, 'POST /user-access', provider('staff', { routing_policy: { a: '' } }))
      const bytes = JSON.stringify(await fleet.configOf(bridge)).length
      const fill = async (size: number) => {
        const policy = JSON.stringify({ a: 'x'.repeat(size - bytes) })
        await fleet.db
          .updateTable('bridge_user_access')
          .set({ routing_policy: policy })
          .where('resource_id', '=', bridge.id)
          .execute()
      }
      await sql`
        insert into label_assignments
        select 'node', ${web}::uuid, 'platform/relay', id, ${bridge.id}, 'string', null, 'user:x', now(), now()
        from label_definitions where qualified_key = 'platform/relay'`.execute(fleet.db)
      await fill(CONFIG_BYTES_MAX)
      expect(await check()).toEqual([
        conflict('assignments_not_fitting', 'relay', null, expect.stringContaining('(1)') as string),
      ])
      await fill(CONFIG_BYTES_MAX + 1)
      expect(await check()).toEqual([
        conflict('bridge_limit_exceeded', 'bridge', null, 'The bridge has more than 512 KiB of configuration.'),
      ])
    })

    it('names parts beyond the limits', async () => {
      const many = Array.from({ length: 128 }, (_, n) =>
        tunnel(`t-${100 + n}`, { allowed_subnets: [`10.${n}.0.0/16`] }),
      )
      expect(await check({ site_to_site: many })).toEqual([])
      await fleet.make(bridge, 'POST /site-to-site', tunnel('hq', { allowed_subnets: ['172.16.0.0/12'] }))
      expect(await check({ site_to_site: many })).toEqual([
        conflict(
          'bridge_limit_exceeded',
          'site-to-site/t-227',
          null,
          'The bridge has more than 128 site-to-site tunnels.',
        ),
      ])
    })

    it('holds at most 1,000 conflicts', async () => {
      const ingress = Array.from({ length: 64 }, (_, n) => rule(`r-${n}`, web))
      expect(await check({ ingress })).toHaveLength(1000)
    })

    it.each([
      ['a port out of range', { relay: { ...RELAY, listen_port: 0 } }, 'port_out_of_range'],
      ['no subnet', { site_to_site: [tunnel('a', { allowed_subnets: [] })] }, 'allowed_subnet_empty'],
      ['one slug twice', { site_to_site: [tunnel('a'), tunnel('a')] }, 'invalid_body'],
    ])('refuses a body with %s', async (_what, body, code) => {
      const answer = await fleet.on(bridge, 'POST /check', body)
      expect([answer.status, answer.body['code']]).toEqual([400, code])
    })

    it('is not for strangers, nor of other resources', async () => {
      const stranger = await fleet.principal(fleet.domainId)
      expect((await fleet.call(stranger, `POST ${bridge.at}/check`, {})).status).toBe(403)
      const other = await fleet.project(fleet.domainId)
      const moved = bridge.at.replace(fleet.projectId, other)
      const answer = await fleet.call(fleet.root, `POST ${moved}/check`, {})
      expect([answer.status, answer.body['code']]).toEqual([404, 'resource_not_found'])
    })
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STORES } from '../../support/datastores/stores.ts'
import {
  provider,
  RELAY,
  rule,
  startBridgeFleet,
  tunnel,
  withoutSlug,
  type BridgeFleet,
} from '../../support/fleet/bridge-fleet.ts'

const AT = { created_at: '2026-03-01T08:00:00.000Z', updated_at: '2026-03-01T08:00:00.000Z' }
const EMPTY = { ingress: [], relay: null, tunnels: [], user_access: [] }

describe.each(STORES)('The parts of a bridge on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: BridgeFleet
    let target: string
    beforeAll(async () => {
      fleet = await startBridgeFleet(store)
      target = await fleet.node({ domainId: fleet.domainId })
    })
    afterAll(() => fleet.stop())

    const change = (name: string) => (slug: string, bridge: { readonly id: string }) => ({
      bridge_resource_id: bridge.id,
      aggregate_id: `${bridge.id}/${name}${slug === '' ? '' : `/${slug}`}`,
      slug,
    })

    describe('the relay', () => {
      it('is created by its first PUT, with an event and the configuration of the hosts', async () => {
        const bridge = await fleet.bridge()
        const answer = await fleet.on(bridge, 'PUT /relay', RELAY)
        expect(answer.status).toBe(200)
        expect(answer.body).toEqual({ resource_id: bridge.id, enabled: true, listen_port: 51_821, ...AT })
        expect((await fleet.on(bridge, 'GET /relay')).body).toEqual(answer.body)
        expect(await fleet.configOf(bridge)).toEqual({ ...EMPTY, relay: { assignments: [], ...RELAY } })
        expect(await fleet.outbox(answer)).toEqual([
          {
            event: 'bridge.RelayConfigured',
            domain_id: fleet.domainId,
            aggregate: `resource:${bridge.id}`,
            payload: change('relay')('', bridge),
          },
        ])
        expect(await fleet.audit(answer)).toEqual({
          relation: 'bridge.relay.configure',
          object: `resource:${bridge.id}`,
          outcome: 'granted',
          reason: 'granted',
          domainId: fleet.domainId,
        })
      })

      it('is replaced by the next one, and keeps its time of creation', async () => {
        const bridge = await fleet.bridge()
        await fleet.on(bridge, 'PUT /relay', RELAY)
        fleet.clock.nowMs += 1000
        const answer = await fleet.on(bridge, 'PUT /relay', { enabled: false, listen_port: 7 })
        fleet.clock.nowMs -= 1000
        expect(answer.body).toEqual({
          resource_id: bridge.id,
          enabled: false,
          listen_port: 7,
          created_at: AT.created_at,
          updated_at: '2026-03-01T08:00:01.000Z',
        })
        expect((await fleet.configOf(bridge))?.['relay']).toEqual({ assignments: [], enabled: false, listen_port: 7 })
        expect(await fleet.eventsOf(bridge)).toHaveLength(2)
      })

      it('that is put as it is changes nothing: no event, no time, an audit row as any', async () => {
        const bridge = await fleet.bridge()
        const first = await fleet.on(bridge, 'PUT /relay', RELAY)
        fleet.clock.nowMs += 1000
        const second = await fleet.on(bridge, 'PUT /relay', RELAY)
        fleet.clock.nowMs -= 1000
        expect([second.status, second.body]).toEqual([200, first.body])
        expect(await fleet.outbox(second)).toEqual([])
        expect(await fleet.audit(second)).toEqual(await fleet.audit(first))
        const config = fleet.db.selectFrom('bridge_configs').select('updated_at').where('resource_id', '=', bridge.id)
        expect((await config.executeTakeFirst())?.updated_at.toISOString()).toBe(AT.updated_at)
      })

      it('is missing in a bridge without one', async () => {
        const answer = await fleet.on(await fleet.bridge(), 'GET /relay')
        expect([answer.status, answer.body['code']]).toEqual([404, 'bridge_relay_not_found'])
      })
    })

    const KINDS = [
      {
        what: 'a user-access provider',
        path: 'user-access',
        missing: 'user_access_provider_not_found',
        relations: 'bridge.user_access',
        events: ['bridge.UserAccessProviderConfigured', 'bridge.UserAccessProviderRemoved'],
        body: (slug: string) => provider(slug),
        shown: {},
        answered: { peer_subnet: null },
        other: () => provider('', { kind: 'overlay_b', listen_port: 9, max_peers: 65_535, routing_policy: {} }),
        member: 'user_access',
      },
      {
        what: 'an ingress rule',
        path: 'ingress',
        missing: 'ingress_rule_not_found',
        relations: 'bridge.ingress',
        events: ['bridge.PublicIngressRuleConfigured', 'bridge.PublicIngressRuleRemoved'],
        body: (slug: string) => rule(slug, target, { acme_account_ref: 'https://acme.example.org/directory' }),
        shown: {},
        answered: {},
        other: () => rule('other', target, { target_port: 1 }),
        member: 'ingress',
      },
      {
        what: 'a site-to-site tunnel',
        path: 'site-to-site',
        missing: 'site_to_site_tunnel_not_found',
        relations: 'bridge.site_to_site',
        events: ['bridge.SiteToSiteTunnelConfigured', 'bridge.SiteToSiteTunnelRemoved'],
        body: (slug: string) => tunnel(slug),
        shown: { allowed_subnets: ['10.20.0.0/16', '10.30.0.0/16'] },
        answered: {},
        other: () => tunnel('', { kind: 'openvpn', allowed_subnets: ['2001:db8::/32'], routing_policy: 'egress_only' }),
        member: 'tunnels',
      },
    ]

    describe.each(KINDS)('$what', ({ path, missing, relations, events, body, shown, answered, other, member }) => {
      it('is created, announced, audited and part of the configuration', async () => {
        const bridge = await fleet.bridge()
        const answer = await fleet.on(bridge, `POST /${path}`, body('one'))
        expect([answer.status, answer.body]).toEqual([
          201,
          { resource_id: bridge.id, ...body('one'), ...shown, ...answered, ...AT },
        ])
        expect(answer.headers.get('location')).toBe(`${bridge.at}/${path}/one`)
        expect(await fleet.configOf(bridge)).toEqual({ ...EMPTY, [member]: [{ ...body('one'), ...shown }] })
        expect(await fleet.outbox(answer)).toEqual([
          {
            event: events[0],
            domain_id: fleet.domainId,
            aggregate: `resource:${bridge.id}`,
            payload: change(path)('one', bridge),
          },
        ])
        expect(await fleet.audit(answer)).toEqual({
          relation: `${relations}.configure`,
          object: `resource:${bridge.id}`,
          outcome: 'granted',
          reason: 'granted',
          domainId: fleet.domainId,
        })
        expect((await fleet.on(bridge, `GET /${path}/one`)).body).toEqual(answer.body)
      })

      it('is replaced as a whole, and keeps its time of creation', async () => {
        const bridge = await fleet.bridge()
        await fleet.on(bridge, `POST /${path}`, body('one'))
        fleet.clock.nowMs += 1000
        const answer = await fleet.on(bridge, `PATCH /${path}/one`, withoutSlug(other()))
        fleet.clock.nowMs -= 1000
        const value = { ...(path === 'ingress' && { acme_account_ref: null }), ...other(), slug: 'one' }
        expect([answer.status, answer.body]).toEqual([
          200,
          {
            resource_id: bridge.id,
            ...value,
            ...answered,
            created_at: AT.created_at,
            updated_at: '2026-03-01T08:00:01.000Z',
          },
        ])
        expect(await fleet.configOf(bridge)).toEqual({ ...EMPTY, [member]: [value] })
        expect((await fleet.outbox(answer)).map(({ event }) => event)).toEqual([events[0]])
        expect(await fleet.audit(answer)).toMatchObject({ relation: `${relations}.update`, outcome: 'granted' })
      })

      it('is deleted once, with its claims', async () => {
        const bridge = await fleet.bridge()
        await fleet.on(bridge, `POST /${path}`, body('one'))
        const answer = await fleet.on(bridge, `DELETE /${path}/one`)
        expect(answer.status).toBe(204)
        expect(await fleet.configOf(bridge)).toEqual(EMPTY)
        expect((await fleet.outbox(answer)).map(({ event, payload }) => [event, payload])).toEqual([
          [events[1], change(path)('one', bridge)],
        ])
        expect(await fleet.audit(answer)).toMatchObject({ relation: `${relations}.remove`, outcome: 'granted' })
        const again = await fleet.on(bridge, `DELETE /${path}/one`)
        expect([again.status, again.body['code']]).toEqual([404, missing])
        expect(await fleet.outbox(again)).toEqual([])
        expect((await fleet.on(bridge, `POST /${path}`, body('one'))).status).toBe(201)
      })

      it('that does not exist is 404', async () => {
        const bridge = await fleet.bridge()
        const get = await fleet.on(bridge, `GET /${path}/none`)
        expect([get.status, get.body['code']]).toEqual([404, missing])
        const patch = await fleet.on(bridge, `PATCH /${path}/none`, withoutSlug(body('one')))
        expect([patch.status, patch.body['code']]).toEqual([404, missing])
        expect(await fleet.audit(patch)).toMatchObject({ outcome: 'not_found', reason: missing })
      })

      it('whose slug is taken is an identity conflict', async () => {
        const bridge = await fleet.bridge()
        await fleet.on(bridge, `POST /${path}`, body('one'))
        const answer = await fleet.on(bridge, `POST /${path}`, body('one'))
        expect([answer.status, answer.body['code']]).toEqual([409, 'slug_conflict'])
        expect(await fleet.audit(answer)).toMatchObject({ outcome: 'identity_conflict', reason: 'slug_conflict' })
        expect(await fleet.outbox(answer)).toEqual([])
      })

      it('keeps its slug: an update that names it is malformed', async () => {
        const bridge = await fleet.bridge()
        await fleet.on(bridge, `POST /${path}`, body('one'))
        const answer = await fleet.on(bridge, `PATCH /${path}/one`, body('one'))
        expect([answer.status, answer.body['code']]).toEqual([400, 'invalid_body'])
      })

      it('must be named by a slug', async () => {
        const answer = await fleet.on(await fleet.bridge(), `GET /${path}/Not_A_Slug`)
        expect([answer.status, answer.body['code']]).toEqual([400, 'invalid_slug'])
      })
    })

    it('are listed whole, by slug in bytes', async () => {
      const bridge = await fleet.bridge()
      const slugs = ['b', 'a-1', 'a', 'a0', 'z9', '0']
      for (const [index, slug] of slugs.entries())
        expect((await fleet.on(bridge, 'POST /user-access', provider(slug, { listen_port: 100 + index }))).status).toBe(
          201,
        )
      const { status, body } = await fleet.on(bridge, 'GET /user-access')
      expect(status).toBe(200)
      expect(Object.keys(body)).toEqual(['items'])
      const shown = (body['items'] as readonly { readonly slug: string }[]).map(({ slug }) => slug)
      expect(shown).toEqual(['0', 'a', 'a-1', 'a0', 'b', 'z9'])
      const config = (await fleet.configOf(bridge))?.['user_access'] as readonly { readonly slug: string }[]
      expect(config.map(({ slug }) => slug)).toEqual(shown)
      expect((await fleet.on(bridge, 'GET /ingress')).body).toEqual({ items: [] })
      expect((await fleet.on(bridge, 'GET /site-to-site')).body).toEqual({ items: [] })
      expect((await fleet.on(bridge, 'GET /user-access?limit=1')).status).toBe(400)
    })
  })
})

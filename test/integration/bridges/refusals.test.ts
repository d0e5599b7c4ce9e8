import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { problem } from '../../../src/shared/problems.ts'
import { STORES } from '../../support/datastores/stores.ts'
import {
  provider,
  RELAY,
  rule,
  startBridgeFleet,
  tunnel,
  withoutSlug,
  type BridgeFleet,
  type BridgeUnderTest,
} from '../../support/fleet/bridge-fleet.ts'
import type { Answer } from '../../support/server/control-plane.ts'

describe.each(STORES)('Refused writes of a bridge on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: BridgeFleet
    let bridge: BridgeUnderTest
    let host: string
    let target: string
    beforeAll(async () => {
      fleet = await startBridgeFleet(store)
      host = await fleet.node({ domainId: fleet.domainId })
      target = await fleet.node({ domainId: fleet.domainId })
    })
    beforeEach(async () => {
      fleet.acme.check = async () => undefined
      bridge = await fleet.bridge([host])
    })
    afterAll(() => fleet.stop())

    /** Asserts the refusal, its audit row, and that nothing of it is stored or announced. */
    async function expectRefused(
      write: () => Promise<Answer>,
      { status, code, outcome = 'invariant_violation', ...members }: Refusal,
    ): Promise<void> {
      const before = [await fleet.eventsOf(bridge), await fleet.configOf(bridge)]
      const answer = await write()
      expect([answer.status, answer.body['code']]).toEqual([status, code])
      expect(answer.body).toMatchObject(members)
      expect(answer.body['type']).toBe(`/problems/${code.replaceAll('_', '-')}`)
      expect(await fleet.outbox(answer)).toEqual([])
      expect(await fleet.audit(answer)).toMatchObject({ object: `resource:${bridge.id}`, outcome, reason: code })
      expect([await fleet.eventsOf(bridge), await fleet.configOf(bridge)]).toEqual(before)
    }

    const on = (operation: string, body?: unknown) => fleet.on(bridge, operation, body)
    const make = (operation: string, body?: unknown) => fleet.make(bridge, operation, body)

    describe.each([
      ['PUT /relay', 'listen_port', () => RELAY],
      ['POST /user-access', 'listen_port', () => provider('one')],
      ['POST /ingress', 'target_port', () => rule('one', target)],
      ['POST /site-to-site', 'remote_port', () => tunnel('one')],
    ] as const)('%s with a bad %s', (operation, member, body) => {
      it.each([0, 65_536, -1])('%d is out of range', async (port) => {
        await expectRefused(() => on(operation, { ...body(), [member]: port }), {
          status: 400,
          code: 'port_out_of_range',
        })
      })

      it.each([
        ['a string', '80'],
        ['a fraction', 1.5],
        ['null', null],
      ])('%s is malformed', async (_, port) => {
        await expectRefused(() => on(operation, { ...body(), [member]: port }), { status: 400, code: 'invalid_body' })
      })

      it.each([1, 65_535])('%d is in range', async (port) => {
        expect((await on(operation, { ...body(), [member]: port })).status).toBeLessThan(300)
      })
    })

    it.each([
      ['the relay', 'PUT /relay', { listen_port: 7, enabled: false }, 'relay'],
      ['a provider', 'POST /user-access', provider('a', { listen_port: 7 }), 'user-access/a'],
    ])('a provider may not have the port of %s', async (_, operation, first, name) => {
      await make(operation, first)
      const write = () => on('POST /user-access', provider('b', { listen_port: 7 }))
      await expectRefused(write, { status: 409, code: 'bridge_port_conflict', port: 7, conflicts_with: name })
    })

    it('a provider may not take the port of another by an update, but keeps its own', async () => {
      await make('POST /user-access', provider('a', { listen_port: 7 }))
      await make('POST /user-access', provider('b', { listen_port: 8 }))
      const to = (port: number) => on('PATCH /user-access/b', withoutSlug(provider('b', { listen_port: port })))
      await expectRefused(() => to(7), { status: 409, code: 'bridge_port_conflict', conflicts_with: 'user-access/a' })
      expect((await to(8)).status).toBe(200)
    })

    it('the relay may not have the port of a provider', async () => {
      await make('POST /user-access', provider('a', { listen_port: 7 }))
      const write = () => on('PUT /relay', { enabled: false, listen_port: 7 })
      await expectRefused(write, {
        status: 409,
        code: 'bridge_port_conflict',
        port: 7,
        conflicts_with: 'user-access/a',
      })
    })

    it('two rules may not have one target', async () => {
      await make('POST /ingress', rule('a', target))
      const write = () => on('POST /ingress', rule('b', target))
      await expectRefused(write, { status: 409, code: 'bridge_port_conflict', port: 8080, conflicts_with: 'ingress/a' })
    })

    it('a rule may not have a host as its target on a port on which the bridge listens, from both sides', async () => {
      await make('PUT /relay', { enabled: true, listen_port: 8080 })
      await expectRefused(() => on('POST /ingress', rule('a', host)), {
        status: 409,
        code: 'bridge_port_conflict',
        port: 8080,
        conflicts_with: 'relay',
      })
      await make('POST /ingress', rule('a', host, { target_port: 81 }))
      await expectRefused(() => on('PUT /relay', { enabled: true, listen_port: 81 }), {
        status: 409,
        code: 'bridge_port_conflict',
        port: 81,
        conflicts_with: 'ingress/a',
      })
    })

    it('the port of the other end of a tunnel takes no part', async () => {
      await make('PUT /relay', { enabled: true, listen_port: 51_820 })
      expect((await on('POST /site-to-site', tunnel('a'))).status).toBe(201)
    })

    it('an interface has one provider', async () => {
      await make('POST /user-access', provider('a', { interface_name: 'wg0' }))
      const write = () => on('POST /user-access', provider('b', { interface_name: 'wg0', listen_port: 9 }))
      await expectRefused(write, { status: 409, code: 'interface_name_conflict', conflicts_with: 'user-access/a' })
    })

    it('a server name has one rule, whatever its case: an identity conflict, on create and on update', async () => {
      await make('POST /ingress', rule('a', target, { sni_host: 'shop.example.org' }))
      await make('POST /ingress', rule('b', target, { target_port: 1 }))
      const taken = { sni_host: 'SHOP.example.org', target_port: 2 }
      const refusal = { status: 409, code: 'slug_conflict', outcome: 'identity_conflict' } as const
      await expectRefused(() => on('POST /ingress', rule('c', target, taken)), refusal)
      await expectRefused(() => on('PATCH /ingress/b', withoutSlug(rule('b', target, taken))), refusal)
    })

    it('the target of a rule is a node of the Domain', async () => {
      const other = await fleet.domain()
      const elsewhere = await fleet.node({ domainId: other })
      for (const id of [elsewhere, '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'])
        await expectRefused(() => on('POST /ingress', rule('a', id)), {
          status: 400,
          code: 'target_node_not_in_domain',
        })
    })

    it.each([
      ['100.64.0.0/16', 'a part of it'],
      ['0.0.0.0/0', 'everything'],
      ['100.0.0.0/8', 'what contains it'],
    ])('a tunnel to %s overlaps the mesh: %s', async (subnet) => {
      await make('POST /site-to-site', tunnel('a', { allowed_subnets: ['10.0.0.0/8'] }))
      const write = () => on('POST /site-to-site', tunnel('b', { allowed_subnets: ['10.1.0.0/16', subnet] }))
      await expectRefused(write, { status: 409, code: 'subnet_overlap_with_mesh', subnet })
    })

    it('tunnels of one bridge do not overlap, those of two bridges may', async () => {
      await make('POST /site-to-site', tunnel('a', { allowed_subnets: ['10.0.0.0/8', '2001:db8::/32'] }))
      for (const subnet of ['10.7.0.0/16', '2001:db8:7::/48', '8.0.0.0/5']) {
        const write = () => on('POST /site-to-site', tunnel('b', { allowed_subnets: ['192.168.0.0/16', subnet] }))
        await expectRefused(write, {
          status: 409,
          code: 'subnet_overlap_with_tunnel',
          subnet,
          conflicts_with: 'site-to-site/a',
        })
      }
      const other = await fleet.bridge()
      expect(
        (await fleet.on(other, 'POST /site-to-site', tunnel('b', { allowed_subnets: ['10.0.0.0/8'] }))).status,
      ).toBe(201)
      const same = tunnel('a', { allowed_subnets: ['10.0.0.0/9', '2001:db8::/33'] })
      expect((await on('PATCH /site-to-site/a', withoutSlug(same))).status).toBe(200)
    })

    it('a tunnel has a subnet', async () => {
      const write = () => on('POST /site-to-site', tunnel('a', { allowed_subnets: [] }))
      await expectRefused(write, { status: 400, code: 'allowed_subnet_empty' })
    })

    it.each(['10.0.0.1/8', '127.0.0.0/8', 'fe80::/64', '::ffff:10.0.0.0/104', '10.0.0.0', 'net'])(
      'the subnet %s is malformed',
      async (subnet) => {
        const write = () => on('POST /site-to-site', tunnel('a', { allowed_subnets: [subnet] }))
        await expectRefused(write, { status: 400, code: 'invalid_body' })
      },
    )

    it.each(['secret:other/edge/hq', 'secret:acme/other/hq', 'secret:acme/edge', 'hq', 'secret:acme/edge/hq:0'])(
      'the secret reference %s is malformed or of another Project',
      async (auth_secret_ref) => {
        const refusal = { status: 400, code: 'secret_ref_malformed' } as const
        await expectRefused(() => on('POST /user-access', provider('a', { auth_secret_ref })), refusal)
        await expectRefused(() => on('POST /site-to-site', tunnel('a', { auth_secret_ref })), refusal)
      },
    )

    it('a rule may not name an account in a secret of another Project', async () => {
      const write = () => on('POST /ingress', rule('a', target, { acme_account_ref: 'secret:other/edge/acme' }))
      await expectRefused(write, { status: 400, code: 'secret_ref_malformed' })
    })

    it.each([
      ['acme_directory_unreachable', 422, 'invariant_violation', { reason: 'it answered 500' }],
      ['secret_store_unavailable', 503, 'internal_error', {}],
    ] as const)('an ACME directory that cannot be used is %s', async (code, status, outcome, members) => {
      const asked: unknown[] = []
      fleet.acme.check = async (...given) => {
        asked.push(given)
        throw code === 'secret_store_unavailable' ? problem(code) : problem(code, { reason: 'it answered 500' })
      }
      const ref = { acme_account_ref: 'https://acme.example.org/directory' }
      await expectRefused(() => on('POST /ingress', rule('a', target, ref)), { status, code, outcome, ...members })
      expect(asked).toMatchObject([
        [ref.acme_account_ref, { projectId: fleet.projectId, domainSlug: 'acme', projectSlug: 'edge' }],
      ])
      fleet.acme.check = async () => {
        throw new Error('it is asked where TLS is passed through, or after a rule is broken')
      }
      expect((await on('POST /ingress', rule('a', target))).status).toBe(201)
      const broken = () => on('POST /ingress', rule('b', target, ref))
      await expectRefused(broken, { status: 409, code: 'bridge_port_conflict' })
    })

    it('a body has 8 KiB at most', async () => {
      const long = { auth_secret_ref: 'x'.repeat(8192) }
      for (const [operation, body] of [
        ['PUT /relay', { ...RELAY, ...long }],
        ['POST /user-access', provider('a', long)],
        ['POST /ingress', { ...rule('a', target), ...long }],
        ['POST /site-to-site', tunnel('a', long)],
      ] as const)
        await expectRefused(() => on(operation, body), { status: 413, code: 'request_body_too_large' })
    })

    describe('for what the path names', () => {
      it.each([
        ['projects/x', 'invalid_project_id'],
        ['projects/00000000-0000-0000-0000-000000000000', 'invalid_project_id'],
      ])('%s is %s', async (part, code) => {
        const path = bridge.at.replace(`projects/${fleet.projectId}`, part)
        const answer = await fleet.call(fleet.root, `PUT ${path}/relay`, RELAY)
        expect([answer.status, answer.body['code']]).toEqual([400, code])
      })

      it('a malformed resource is told before a malformed body', async () => {
        const path = `/v1/projects/${fleet.projectId}/resources/x/bridge/relay`
        const answer = await fleet.call(fleet.root, `PUT ${path}`, { listen_port: 'x' })
        expect([answer.status, answer.body['code']]).toEqual([400, 'invalid_resource_id'])
      })

      it('a resource of another Project does not exist', async () => {
        const other = await fleet.project(fleet.domainId)
        const path = bridge.at.replace(fleet.projectId, other)
        for (const operation of ['GET /relay', 'PUT /relay', 'GET /ingress', 'DELETE /site-to-site/a']) {
          const [method, part] = operation.split(' ')
          const answer = await fleet.call(fleet.root, `${method} ${path}${part}`, method === 'PUT' ? RELAY : undefined)
          expect([operation, answer.status, answer.body['code']]).toEqual([operation, 404, 'resource_not_found'])
        }
      })

      it('a resource of another kind is no bridge', async () => {
        const body = { kind: 'network', slug: 'net', display_name: 'N' }
        const { body: made } = await fleet.call(fleet.root, `POST /v1/projects/${fleet.projectId}/resources`, body)
        const path = `/v1/projects/${fleet.projectId}/resources/${String(made['id'])}/bridge`
        for (const operation of ['GET /relay', 'PUT /relay', 'GET /ingress', 'DELETE /user-access/a']) {
          const [method, part] = operation.split(' ')
          const answer = await fleet.call(fleet.root, `${method} ${path}${part}`, method === 'PUT' ? RELAY : undefined)
          expect([operation, answer.status, answer.body['code']]).toEqual([operation, 409, 'resource_not_bridge'])
        }
      })

      it('a caller without the relation is denied before its body is read, and the denial is audited first', async () => {
        const reader = await fleet.holder(fleet.domainId, 'viewer', `resource:${bridge.id}`)
        for (const [operation, relation] of [
          ['PUT /relay', 'bridge.relay.configure'],
          ['POST /user-access', 'bridge.user_access.configure'],
          ['POST /ingress', 'bridge.ingress.configure'],
          ['POST /site-to-site', 'bridge.site_to_site.configure'],
          ['DELETE /ingress/a', 'bridge.ingress.remove'],
        ] as const) {
          const [method = '', part = ''] = operation.split(' ')
          const body = method === 'DELETE' ? undefined : { listen_port: 0 }
          const answer = await fleet.call(reader, `${method} ${bridge.at}${part}`, body)
          expect([operation, answer.status, answer.body['code']]).toEqual([operation, 403, 'permission_denied'])
          expect(await fleet.audit(answer)).toMatchObject({
            relation,
            object: `resource:${bridge.id}`,
            outcome: 'permission_denied',
          })
        }
        expect((await fleet.call(reader, `GET ${bridge.at}/ingress`)).status).toBe(200)
      })
    })
  })
})

interface Refusal extends Readonly<Record<string, unknown>> {
  readonly status: number
  readonly code: string
  readonly outcome?: string
}

import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { schemaProblem } from '../../../../src/server/http/schema-failure.ts'
import {
  BridgeCheckRequest,
  BridgeIngressCreateRequest,
  BridgeIngressUpdateRequest,
  BridgeRelayRequest,
  BridgeSiteToSiteCreateRequest,
  BridgeSiteToSiteUpdateRequest,
  BridgeUserAccessCreateRequest,
} from '../../../../src/shared/contract/bridge-schemas.ts'

const NODE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const relay = { enabled: true, listen_port: 51_821 }
const provider = {
  slug: 'staff',
  kind: 'wireguard',
  interface_name: 'wg-staff',
  listen_port: 51_830,
  max_peers: 50,
  auth_secret_ref: 'secret:acme/edge/staff-key',
  routing_policy: {},
}
const rule = { slug: 'shop', sni_host: 'shop.example.org', target_node_id: NODE, target_port: 8080 }
const tunnel = {
  slug: 'hq',
  kind: 'wireguard',
  remote_host: 'vpn.example.org',
  remote_port: 51_820,
  auth_secret_ref: 'secret:acme/edge/hq-key',
  allowed_subnets: ['10.20.0.0/16'],
  routing_policy: 'bidirectional',
}
const { slug: _slug, ...tunnelUpdate } = tunnel

/** The code and the pointers with which a body is refused; the parsed body where it is not. */
function answer(schema: z.ZodType, body: unknown): unknown {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const { code, extras } = schemaProblem(schema, parsed.error, 'invalid_body')
  const { errors = [] } = extras as { readonly errors?: readonly { readonly pointer: string }[] }
  return [code, ...errors.map(({ pointer }) => pointer)]
}

describe('Ports', () => {
  const bodies: readonly (readonly [string, z.ZodType, object, string])[] = [
    ['a relay', BridgeRelayRequest, relay, 'listen_port'],
    ['a provider', BridgeUserAccessCreateRequest, provider, 'listen_port'],
    ['an ingress rule', BridgeIngressCreateRequest, rule, 'target_port'],
    ['a tunnel', BridgeSiteToSiteCreateRequest, tunnel, 'remote_port'],
  ]
  describe.each(bodies)('of %s', (_what, schema, body, member) => {
    it.each([1, 65_535])('%d is valid', (port) => {
      expect(answer(schema, { ...body, [member]: port })).toMatchObject({ [member]: port })
    })
    it.each([0, 65_536, -1, Number.MAX_SAFE_INTEGER])('%d is out of range', (port) => {
      expect(answer(schema, { ...body, [member]: port })).toEqual(['port_out_of_range', `/${member}`])
    })
    it.each([
      ['a string', '80'],
      ['a fraction', 1.5],
      ['a fraction out of range', 65_536.5],
      ['null', null],
    ])('%s is malformed', (_kind, port) => {
      expect(answer(schema, { ...body, [member]: port })).toEqual(['invalid_body', `/${member}`])
    })
  })

  it('out of range are answered before members that are malformed', () => {
    expect(answer(BridgeRelayRequest, { enabled: 'yes', listen_port: 0 })).toEqual([
      'port_out_of_range',
      '/enabled',
      '/listen_port',
    ])
  })
})

describe('A provider', () => {
  it.each(['wg0', 'a', 'wg-staff.1_x', 'abcdefghijklmno'])('may have the interface %s', (interface_name) => {
    expect(answer(BridgeUserAccessCreateRequest, { ...provider, interface_name })).toMatchObject({ interface_name })
  })
  it.each(['', '0wg', 'WG0', 'wg/0', 'wg 0', '-wg', 'abcdefghijklmnop', 'wg0\n'])(
    'has no interface %j',
    (interface_name) => {
      expect(answer(BridgeUserAccessCreateRequest, { ...provider, interface_name })).toEqual([
        'invalid_body',
        '/interface_name',
      ])
    },
  )
  it.each([0, 65_536, 1.5, '5'])('has not %j peers', (max_peers) => {
    expect(answer(BridgeUserAccessCreateRequest, { ...provider, max_peers })).toEqual(['invalid_body', '/max_peers'])
  })
  it.each([
    ['an array', []],
    ['a text', 'x'],
    ['null', null],
    ['too long', { a: 'x'.repeat(4096) }],
  ])('has no routing policy that is %s', (_what, routing_policy) => {
    expect(answer(BridgeUserAccessCreateRequest, { ...provider, routing_policy })).toEqual([
      'invalid_body',
      '/routing_policy',
    ])
  })
  it('has a code of its own for a malformed secret reference and for a malformed slug', () => {
    expect(answer(BridgeUserAccessCreateRequest, { ...provider, auth_secret_ref: 'staff-key' })).toEqual([
      'secret_ref_malformed',
      '/auth_secret_ref',
    ])
    expect(answer(BridgeUserAccessCreateRequest, { ...provider, slug: 'Staff' })).toEqual(['invalid_slug', '/slug'])
  })
})

describe('An ingress rule', () => {
  it('has its server name in lower case', () => {
    expect(answer(BridgeIngressCreateRequest, { ...rule, sni_host: 'Shop.Example.ORG' })).toMatchObject({
      sni_host: 'shop.example.org',
    })
  })
  it.each(['\u212Aiosk.example', 'shop.example.org.', '192.0.2.1', 'localhost'])('is not of %s', (sni_host) => {
    expect(answer(BridgeIngressCreateRequest, { ...rule, sni_host })).toEqual(['invalid_body', '/sni_host'])
  })

  it.each([
    null,
    'https://acme.example.org/directory',
    'https://acme.example.org:14000/dir?x=1',
    'secret:acme/edge/acme-account',
    'secret:acme/edge/acme-account:2',
  ])('may have the ACME reference %j', (acme_account_ref) => {
    expect(answer(BridgeIngressCreateRequest, { ...rule, acme_account_ref })).toMatchObject({ acme_account_ref })
  })
  it.each([
    '',
    'http://acme.example.org/directory',
    'https://',
    'https://user:pass@acme.example.org/directory',
    'https://acme.example.org/directory#x',
    'acme.example.org',
    'secret:acme/edge',
    `https://acme.example.org/${'x'.repeat(512)}`,
  ])('has no ACME reference %j', (acme_account_ref) => {
    expect(answer(BridgeIngressCreateRequest, { ...rule, acme_account_ref })).toEqual([
      'invalid_body',
      '/acme_account_ref',
    ])
  })

  it('of a wildcard has no ACME reference', () => {
    const sni_host = '*.example.org'
    const acme_account_ref = 'https://acme.example.org/directory'
    const { slug: _own, ...update } = rule
    expect(answer(BridgeIngressCreateRequest, { ...rule, sni_host })).toMatchObject({ sni_host })
    expect(answer(BridgeIngressCreateRequest, { ...rule, sni_host, acme_account_ref: null })).toMatchObject({
      sni_host,
    })
    expect(answer(BridgeIngressCreateRequest, { ...rule, sni_host, acme_account_ref })).toEqual([
      'invalid_body',
      '/sni_host',
    ])
    expect(answer(BridgeIngressUpdateRequest, { ...update, sni_host, acme_account_ref })).toEqual([
      'invalid_body',
      '/sni_host',
    ])
  })
})

describe('A tunnel', () => {
  it('has at least one subnet', () => {
    expect(answer(BridgeSiteToSiteCreateRequest, { ...tunnel, allowed_subnets: [] })).toEqual([
      'allowed_subnet_empty',
      '/allowed_subnets',
    ])
    expect(answer(BridgeSiteToSiteUpdateRequest, { ...tunnelUpdate, allowed_subnets: [] })).toEqual([
      'allowed_subnet_empty',
      '/allowed_subnets',
    ])
  })
  it.each([
    ['absent', undefined],
    ['null', null],
    ['a text', '10.20.0.0/16'],
  ])('whose subnets are %s is malformed', (_what, allowed_subnets) => {
    expect(answer(BridgeSiteToSiteCreateRequest, { ...tunnel, allowed_subnets })).toEqual([
      'invalid_body',
      '/allowed_subnets',
    ])
  })
  it.each([
    ['host bits', ['10.20.0.0/16', '10.0.0.1/8'], '/allowed_subnets/1'],
    ['a mapped network', ['::ffff:10.20.0.0/112'], '/allowed_subnets/0'],
    ['a loopback network', ['127.0.0.0/8'], '/allowed_subnets/0'],
    ['a number', [10], '/allowed_subnets/0'],
    ['one subnet twice', ['10.20.0.0/16', '10.20.0.0/16'], '/allowed_subnets'],
    ['one subnet in two spellings', ['2001:db8::/32', '2001:0DB8:0::/32'], '/allowed_subnets'],
  ])('has not %s', (_what, allowed_subnets, pointer) => {
    expect(answer(BridgeSiteToSiteCreateRequest, { ...tunnel, allowed_subnets })).toEqual(['invalid_body', pointer])
  })
  it('has its subnets in canonical form', () => {
    const allowed_subnets = ['2001:0DB8:0::/32', '0.0.0.0/0']
    expect(answer(BridgeSiteToSiteCreateRequest, { ...tunnel, allowed_subnets })).toMatchObject({
      allowed_subnets: ['2001:db8::/32', '0.0.0.0/0'],
    })
  })
  it('may have as many subnets as fit into 8 KiB', () => {
    const allowed_subnets: string[] = []
    const size = () => Buffer.byteLength(JSON.stringify({ ...tunnel, allowed_subnets }))
    for (let n = 0; size() < 8192 - 12; n++) allowed_subnets.push(`${(n + 16).toString(16)}::/16`)
    expect(allowed_subnets.length).toBeGreaterThan(700)
    const startedAt = performance.now()
    expect(answer(BridgeSiteToSiteCreateRequest, { ...tunnel, allowed_subnets })).toMatchObject({ allowed_subnets })
    expect(performance.now() - startedAt).toBeLessThan(250)
  })
  it('has no slug in an update', () => {
    expect(answer(BridgeSiteToSiteUpdateRequest, tunnel)).toEqual(['invalid_body', '/slug'])
  })
})

describe('A check', () => {
  it.each([
    ['a port out of range', { relay: { ...relay, listen_port: 0 } }, ['port_out_of_range', '/relay/listen_port']],
    [
      'no subnet',
      { site_to_site: [{ ...tunnel, allowed_subnets: [] }] },
      ['allowed_subnet_empty', '/site_to_site/0/allowed_subnets'],
    ],
    [
      'a malformed secret reference',
      { user_access: [{ ...provider, auth_secret_ref: 'x' }] },
      ['secret_ref_malformed', '/user_access/0/auth_secret_ref'],
    ],
    ['a malformed slug', { ingress: [{ ...rule, slug: '' }] }, ['invalid_slug', '/ingress/0/slug']],
    ['one slug twice', { ingress: [rule, { ...rule, sni_host: 'other.example.org' }] }, ['invalid_body', '/ingress']],
    ['an unknown member', { tunnels: [] }, ['invalid_body', '/tunnels']],
  ])('of %s is refused as a write is', (_what, body, expected) => {
    expect(answer(BridgeCheckRequest, body)).toEqual(expected)
  })
})

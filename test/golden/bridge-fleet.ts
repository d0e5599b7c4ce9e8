import { refused, type SeenRequest, type StubAnswer, type StubRoutes } from '../support/cli/stub-server.ts'
import { FLEET, ID } from './fleet.ts'

const EDGE = '019c1a10-0000-7000-8000-0000000b1001'
const SPARE = '019c1a10-0000-7000-8000-0000000b1002'
const AT = { created_at: '2026-01-30T12:00:00.000Z', updated_at: '2026-02-01T11:50:00.000Z' }
const WANTED = 'LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ='
const OTHER = 'n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg='
const KEY = 'secret:default/web/hq-key'

const resource = (id: string, slug: string, hosts: readonly string[]) => ({
  id,
  domain_id: ID.domain,
  project_id: ID.project,
  kind: 'bridge',
  slug,
  display_name: slug,
  host_node_ids: hosts,
  ...AT,
})

const RESOURCES = [
  resource(EDGE, 'edge-1', [ID.web, ID.old]),
  resource(SPARE, 'edge-2', [ID.db]),
  { ...resource(ID.lab, 'shop', []), kind: 'workload' },
]

const relay = { resource_id: EDGE, enabled: true, listen_port: 51_821, ...AT }

const staff = {
  resource_id: EDGE,
  slug: 'staff',
  kind: 'wireguard',
  interface_name: 'wg-staff',
  listen_port: 51_830,
  max_peers: 50,
  auth_secret_ref: 'secret:default/web/staff-key:2',
  routing_policy: {},
  peer_subnet: '10.99.0.0/24',
  ...AT,
}

const peer = (name: string, address: string, public_key: string) => ({
  resource_id: EDGE,
  provider: 'staff',
  name,
  public_key,
  address,
  created_at: AT.created_at,
})
const PEERS = {
  items: [
    peer('ann-phone', '10.99.0.2', 'yUxhDFiRqEJAYtJGkS1TUJQTJRgD9GnBRIGFdXzdJzc='),
    peer('bob-laptop', '10.99.0.3', 'bJmG7KVKcVyhYCfCGX6Xyz5qDC2zeNcYvrlPFNMDaWg='),
  ],
  hosts: [
    { node_id: ID.web, name: 'web-1', public_key: null, address: '203.0.113.7' },
    {
      node_id: ID.old,
      name: 'old-1',
      public_key: 'pbOmbYtLdzLTiQL8NL6bOuwM3qUM4QJtJDI55a2Sgg4=',
      address: '203.0.113.8',
    },
  ],
  mesh_cidr: '100.64.0.0/10',
}

const rule = (slug: string, target: string, acme: string | null) => ({
  resource_id: EDGE,
  slug,
  sni_host: `${slug}.example.org`,
  target_node_id: target,
  target_port: 8080,
  acme_account_ref: acme,
  ...AT,
})
const SHOP = rule('shop', ID.db, 'https://acme.example.org/directory')
const BLOG = { ...rule('blog', ID.db, null), target_port: 8081 }

const HQ = {
  resource_id: EDGE,
  slug: 'hq',
  kind: 'wireguard',
  remote_host: 'vpn.example.org',
  remote_port: 51_820,
  auth_secret_ref: KEY,
  allowed_subnets: ['10.20.0.0/16', '10.21.0.0/16'],
  routing_policy: 'bidirectional',
  ...AT,
}
const LAB = {
  ...HQ,
  slug: 'lab',
  kind: 'ipsec',
  remote_host: '2001:db8::7',
  remote_port: 4500,
  allowed_subnets: ['10.30.0.0/16'],
  routing_policy: 'egress_only',
}

const host = (node_id: string, name: string, more: object) => ({
  node_id,
  name,
  in_sync: true,
  fingerprint: WANTED,
  applied_at: '2026-02-01T11:58:00.000Z',
  secrets: { [KEY]: 4 },
  error: null,
  reported_at: '2026-02-01T11:58:01.000Z',
  ...more,
})

const status = (resource_id: string, hosts: readonly object[]): StubAnswer => ({
  body: { resource_id, fingerprint: WANTED, updated_at: AT.updated_at, secrets: { [KEY]: 4 }, hosts },
})

const BEHIND = status(EDGE, [
  host(ID.web, 'web-1', {}),
  host(ID.old, 'old-1', {
    in_sync: false,
    fingerprint: OTHER,
    applied_at: '2026-01-31T12:00:00.000Z',
    error: 'port 51821 is in use',
  }),
])

/** A problem with members of its own. */
function refusedWith(httpStatus: number, code: string, more: object): StubAnswer {
  const answer = refused(httpStatus, code, `The server says ${code}.`)
  return { ...answer, body: { ...(answer.body as object), ...more } }
}

/** A created or replaced part, refused as the server would for some values. */
function written(stored: object, code: number) {
  return ({ body }: SeenRequest): StubAnswer => {
    const refusal = refusalOf(body as Readonly<Record<string, unknown>>)
    return refusal ?? { status: code, body: { ...stored, ...(body as object) } }
  }
}

function refusalOf(body: Readonly<Record<string, unknown>>): StubAnswer | undefined {
  if (body['name'] === 'cyd-phone') return refusedWith(409, 'max_peers_reached', { limit: 2 })
  const { target_port: port, allowed_subnets: subnets, slug, acme_account_ref: acme } = body
  if (slug === 'shop') return refused(409, 'slug_conflict', 'That slug is taken.')
  if (port === 443) return refusedWith(409, 'bridge_port_conflict', { port: 443, conflicts_with: 'user-access/staff' })
  if (Array.isArray(subnets) && subnets.includes('100.64.0.0/16'))
    return refusedWith(409, 'subnet_overlap_with_mesh', { subnet: '100.64.0.0/16' })
  if (Array.isArray(subnets) && subnets.includes('10.20.4.0/24'))
    return refusedWith(409, 'subnet_overlap_with_tunnel', {
      subnet: '10.20.4.0/24',
      conflicts_with: 'site-to-site/hq',
    })
  if (acme === 'https://away.example.org/directory')
    return refusedWith(422, 'acme_directory_unreachable', { reason: 'The connection was refused.' })
  return undefined
}

const CONFLICTS = [
  {
    code: 'bridge_port_conflict',
    part: 'ingress/blog',
    conflicts_with: 'relay',
    detail: 'Port 51821 of web-1 belongs to the relay.',
  },
  {
    code: 'target_node_not_in_domain',
    part: 'ingress/shop',
    conflicts_with: null,
    detail: 'The target node was deregistered.',
  },
]

const P = `/v1/projects/${ID.project}/resources`
const whole = (items: readonly object[]): StubAnswer => ({ body: { items } })
const missing = (code: string): StubAnswer => refused(404, code, 'The bridge has none.')

/** Two bridges of a Project: one with everything, and one whose host applies it at the second look. */
export const bridgeFleet = (): { readonly routes: StubRoutes } => ({
  routes: {
    ...FLEET,
    [`GET ${P}`]: { body: { items: RESOURCES, next_cursor: null } },
    [`GET ${P}/${EDGE}`]: { body: RESOURCES[0] },
    [`GET ${P}/${SPARE}`]: { body: RESOURCES[1] },
    [`GET ${P}/${EDGE}/bridge/relay`]: { body: relay },
    [`PUT ${P}/${EDGE}/bridge/relay`]: written(relay, 200),
    [`GET ${P}/${EDGE}/bridge/user-access`]: whole([staff]),
    [`POST ${P}/${EDGE}/bridge/user-access`]: written(staff, 201),
    [`GET ${P}/${EDGE}/bridge/user-access/staff`]: { body: staff },
    [`PATCH ${P}/${EDGE}/bridge/user-access/staff`]: written(staff, 200),
    [`GET ${P}/${EDGE}/bridge/user-access/staff/peers`]: { body: PEERS },
    [`POST ${P}/${EDGE}/bridge/user-access/staff/peers`]: written(peer('', '10.99.0.4', ''), 201),
    [`DELETE ${P}/${EDGE}/bridge/user-access/staff/peers/ann-phone`]: { status: 204 },
    [`GET ${P}/${EDGE}/bridge/ingress`]: whole([BLOG, SHOP]),
    [`POST ${P}/${EDGE}/bridge/ingress`]: written(SHOP, 201),
    [`GET ${P}/${EDGE}/bridge/ingress/shop`]: { body: SHOP },
    [`GET ${P}/${EDGE}/bridge/ingress/blog`]: { body: BLOG },
    [`PATCH ${P}/${EDGE}/bridge/ingress/shop`]: written(SHOP, 200),
    [`DELETE ${P}/${EDGE}/bridge/ingress/shop`]: { status: 204 },
    [`DELETE ${P}/${EDGE}/bridge/ingress/blog`]: { status: 204 },
    [`GET ${P}/${EDGE}/bridge/site-to-site`]: whole([HQ, LAB]),
    [`POST ${P}/${EDGE}/bridge/site-to-site`]: written(HQ, 201),
    [`GET ${P}/${EDGE}/bridge/site-to-site/hq`]: { body: HQ },
    [`PATCH ${P}/${EDGE}/bridge/site-to-site/hq`]: written(HQ, 200),
    [`GET ${P}/${EDGE}/bridge/status`]: BEHIND,
    [`POST ${P}/${EDGE}/bridge/check`]: { body: { resource_id: EDGE, conflicts: CONFLICTS } },
    [`GET ${P}/${SPARE}/bridge/relay`]: missing('bridge_relay_not_found'),
    [`GET ${P}/${SPARE}/bridge/user-access`]: whole([]),
    [`GET ${P}/${SPARE}/bridge/ingress`]: whole([]),
    [`GET ${P}/${SPARE}/bridge/site-to-site`]: whole([]),
    [`GET ${P}/${SPARE}/bridge/status`]: [
      status(SPARE, [host(ID.db, 'db-1', { in_sync: false, secrets: { [KEY]: 3 } })]),
      status(SPARE, [host(ID.db, 'db-1', {})]),
    ],
    [`POST ${P}/${SPARE}/bridge/check`]: { body: { resource_id: SPARE, conflicts: [] } },
  },
})

import { CHAIN, chainOfRows, makeTestKey } from '../support/server/audit-chain.ts'
import { refused, type StubRoutes } from '../support/cli/stub-server.ts'

/** Fixed ids, UUIDv7 of one day. */
export const ID = {
  domain: '019c1a10-0000-7000-8000-0000000d0001',
  lab: '019c1a10-0000-7000-8000-0000000d0002',
  project: '019c1a10-0000-7000-8000-0000000a0001',
  web: '019c1a10-0000-7000-8000-000000110001',
  db: '019c1a10-0000-7000-8000-000000110002',
  old: '019c1a10-0000-7000-8000-000000220003',
  me: '019c1a10-0000-7000-8000-0000000e0001',
  build: '019c1a10-0000-7000-8000-0000000e0002',
  laptop: '019c1a10-0000-7000-8000-0000000f0001',
  ci: '019c1a10-0000-7000-8000-0000000f0002',
  invitation: '019c1a10-0000-7000-8000-0000000c0001',
  firefox: '019c1a10-0000-7000-8000-0000000b0001',
  phone: '019c1a10-0000-7000-8000-0000000b0002',
} as const

export const TOKEN = `psk_local_${ID.laptop.replaceAll('-', '')}_${'a'.repeat(49)}`

const node = (id: string, name: string, more: Readonly<Record<string, unknown>>) => ({
  id,
  name: '',
  domain_id: ID.domain,
  kind: '',
  created_at: '2026-01-30T12:00:00.000Z',
  display_name: name,
  display_kind: 'vm',
  reachability: 'healthy',
  last_heartbeat_at: '2026-02-01T11:59:48.000Z',
  binary_version: '1.4.0',
  mesh_address: '100.64.0.1',
  endpoint: null,
  labels: {},
  psk_issued_at: '2026-01-30T12:00:00.123000000Z',
  rotation_pending: false,
  ephemeral: false,
  ...more,
})

const NODES = [
  node(ID.web, 'web-1', { endpoint: '203.0.113.7:51820', labels: { site: 'here', tier: 'edge' } }),
  node(ID.db, 'db-1', {
    labels: { site: 'here' },
    endpoint: '[2001:db8::7]:51820',
    rotation_pending: true,
    mesh_address: '100.64.0.2',
    reachability: 'stale',
    last_heartbeat_at: '2026-02-01T11:57:30.000Z',
  }),
  node(ID.old, 'old-1', {
    mesh_address: '100.64.0.3',
    reachability: 'never_reported',
    last_heartbeat_at: null,
    binary_version: null,
  }),
]

const detail = (of: (typeof NODES)[number] | undefined, more: Readonly<Record<string, unknown>> = {}) => ({
  ...of,
  project_id: null,
  public_key: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
  nat_type: null,
  endpoint_reported_at: null,
  capabilities: null,
  nsk: [
    { kid: 'k7Qm2xYz', created_at: '2026-01-30T12:00:00.000Z', retires_at: '2026-02-01T13:00:00.000Z' },
    { kid: 'p3Rt9aBc', created_at: '2026-02-01T11:00:00.000Z', retires_at: null },
  ],
  updated_at: '2026-01-31T12:00:00.000Z',
  ...more,
})

const trustBundle = (failedSince: string | null) => ({
  trust_domain: 'example.org',
  bundle_url: 'https://spire.example.org/bundle',
  key_ids: ['k2026', 'k2027'],
  allow_private_network: false,
  refreshed_at: '2026-02-01T11:57:00.000Z',
  refresh_failed_since: failedSince,
  updated_at: '2026-01-30T12:00:00.000Z',
})

const DOMAIN = {
  id: ID.domain,
  slug: 'default',
  display_name: 'Default',
  mesh_cidr: '100.64.0.0/10',
  endpoint_ttl: 300,
  audit_retention_days: 400,
  trusted_networks: [],
  business_hours: null,
  strong_acr: [],
  created_at: '2026-01-30T12:00:00.000Z',
  updated_at: '2026-01-30T12:00:00.000Z',
}

const PROJECT = {
  id: ID.project,
  domain_id: ID.domain,
  slug: 'web',
  display_name: 'Web',
  created_at: '2026-01-30T12:00:00.000Z',
  updated_at: '2026-01-30T12:00:00.000Z',
}

export const WHOAMI = {
  subject: `serviceaccount:${ID.me}`,
  kind: 'service-identity',
  domain_id: ID.domain,
  display_name: 'Operations',
  credential: { type: 'api-token', id: ID.laptop, scopes: ['*'], expires_at: '2026-05-01T12:00:00.000Z' },
  auth_time: null,
  acr: null,
}

const token = (id: string, name: string, more: Readonly<Record<string, unknown>> = {}) => ({
  id,
  name,
  prefix: `psk_local_${id.replaceAll('-', '')}`,
  scopes: ['*'],
  created_at: '2026-01-31T12:00:00.000Z',
  expires_at: '2026-05-01T12:00:00.000Z',
  last_used_at: null,
  revoked_at: null,
  rotated_to: null,
  ...more,
})

const TOKENS = [token(ID.laptop, 'laptop', { last_used_at: '2026-02-01T11:00:00.000Z' }), token(ID.ci, 'ci')]

const signingKey = (state: 'current' | 'next', letter: string) => ({
  kty: 'OKP',
  crv: 'Ed25519',
  x: letter.toUpperCase().repeat(43),
  kid: letter.repeat(43),
  alg: 'EdDSA',
  use: 'sig',
  nbf: 1_769_774_400,
  ...(state === 'current' && { exp: 1_770_639_000 }),
  state,
  signs_from: state === 'current' ? '2026-01-30T12:00:00.000Z' : '2026-02-01T12:10:00.000Z',
  not_before: state === 'current' ? '2026-01-30T12:00:00.000Z' : '2026-02-01T12:00:00.000Z',
  not_after: state === 'current' ? '2026-02-09T12:10:00.000Z' : null,
})

const invitation = (email: string, more: Readonly<Record<string, unknown>>) => ({
  id: ID.invitation,
  domain_id: ID.domain,
  email,
  created_by: WHOAMI.subject,
  created_at: '2026-01-30T12:00:00.000Z',
  expires_at: '2026-02-06T12:00:00.000Z',
  accepted_at: null,
  accepted_by: null,
  ...more,
})

const browserSession = (id: string, more: Readonly<Record<string, unknown>>) => ({
  id,
  current: false,
  created_at: '2026-01-31T12:00:00.000Z',
  last_seen_at: '2026-02-01T11:00:00.000Z',
  expires_at: '2026-02-07T12:00:00.000Z',
  idle_expires_at: '2026-02-01T23:00:00.000Z',
  auth_time: '2026-01-31T12:00:00.000Z',
  acr: null,
  amr: ['pwd'],
  source_address: '203.0.113.7',
  user_agent: 'Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0',
  ...more,
})

const page = (items: readonly unknown[]) => ({ body: { items, next_cursor: null } })

const filtered =
  (rows: readonly { display_name?: unknown; labels: Readonly<Record<string, string>> }[]) =>
  ({ query }: { query: URLSearchParams }) => {
    const labels = (query.get('labels')?.split(',') ?? []).map((pair) => pair.split('='))
    const named = rows.filter((row) => !query.has('name') || row.display_name === query.get('name'))
    return page(named.filter((row) => labels.every(([key = '', value]) => row.labels[key] === value)))
  }

/** A chain of three rows under one signed head. */
const BUILD = {
  id: ID.build,
  kind: 'service-identity',
  domain_id: ID.domain,
  display_name: 'Build robot',
  external_subject_pseudonym: '0'.repeat(64),
  last_sign_in_at: null,
  created_at: '2026-01-30T12:00:00.000Z',
  disabled: false,
  handle: 'build',
}

/** The Domain has one identity, which its auditors see the handle of. */
function identities(query: URLSearchParams) {
  const { handle, ...unrevealed } = BUILD
  const isAsked = (query.get('kind') ?? BUILD.kind) === BUILD.kind && (query.get('handle') ?? handle) === handle
  const shown = query.get('reveal') === 'true' ? BUILD : unrevealed
  return page(isAsked ? [shown] : [])
}

const CHAIN_ROWS = chainOfRows(3)
const SEALING = makeTestKey('k1')
const chainPlace = (seq: number) => ({ seq, hash: CHAIN_ROWS[seq - 1]?.hash ?? '0'.repeat(64) })

const VERIFIED = {
  chain: CHAIN,
  verdict: 'intact',
  start: { ...chainPlace(0), signed: null },
  rows: 2,
  verified_through: 2,
  verified_hash: chainPlace(2).hash,
  signed_through: null,
  heads_verified: 0,
  heads_unknown: 0,
  sealed_through: 3,
  unsealed: 4,
  first_bad: null,
  next_seq: 3,
}
const VERIFIED_REST = {
  ...VERIFIED,
  start: { ...chainPlace(2), signed: null },
  rows: 1,
  verified_through: 3,
  verified_hash: chainPlace(3).hash,
  signed_through: 3,
  heads_verified: 1,
  next_seq: null,
}
const BROKEN = {
  ...VERIFIED,
  chain: 'platform:main',
  verdict: 'broken',
  first_bad: { seq: 3, id: ID.ci, reason: 'row_altered' },
  next_seq: null,
}
const EXPORTED = {
  chain: CHAIN,
  start: { ...chainPlace(0), signed: null },
  items: CHAIN_ROWS.slice(0, 2),
  heads: [],
  through_seq: 3,
  next_seq: 3,
}
const EXPORTED_REST = {
  ...EXPORTED,
  start: { ...chainPlace(2), signed: null },
  items: CHAIN_ROWS.slice(2),
  heads: [SEALING.sign('head', chainPlace(3))],
  next_seq: null,
}

/** As `GET /v1/signing-keys` answers. */
export const KEY_SET = JSON.stringify({ keys: [SEALING.jwk] })

const account = (id: string, login: string, more: Readonly<Record<string, unknown>> = {}) => ({
  id,
  login,
  display_name: 'Ana Novak',
  email: null,
  domain_id: ID.domain,
  user_id: ID.me,
  disabled: false,
  must_change_password: false,
  second_factors: ['totp'],
  last_sign_in_at: '2026-02-01T11:58:00.000Z',
  created_at: '2026-01-30T12:00:00.000Z',
  ...more,
})
const ONE_TIME = 'bcdfg-hjkmn-pqrst-vwxz2'

/** A small installation: one Domain, one Project, three nodes, two tokens. */
export const FLEET: StubRoutes = {
  'GET /v1/auth/whoami': { body: WHOAMI },
  'GET /v1/auth/sessions': {
    body: [
      browserSession(ID.firefox, {
        user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
      }),
      browserSession(ID.phone, { acr: 'mfa', amr: ['pwd', 'otp'], last_seen_at: '2026-02-01T09:00:00.000Z' }),
    ],
  },
  [`DELETE /v1/auth/sessions/${ID.firefox}`]: { status: 204 },
  [`DELETE /v1/auth/sessions/${ID.phone}`]: refused(404, 'session_not_found', 'No such session is live.'),
  'GET /v1/auth/factors': {
    body: [
      {
        id: '5b0c64e1-9d1f-8f52-a1b7-3c0d51f0c201',
        kind: 'totp',
        label: 'Authenticator app',
        created_at: '2026-01-30T12:00:00.000Z',
        last_used_at: '2026-02-01T11:58:00.000Z',
        required: true,
      },
    ],
  },
  'GET /readyz': { body: { status: 'ready', probes: {} } },
  [`GET /v1/nodes/${ID.web}/reachability`]: {
    body: { state: 'healthy', last_heartbeat_at: '2026-02-01T11:59:30.000Z', changed_at: '2026-01-31T12:00:00.000Z' },
  },
  [`GET /v1/nodes/${ID.db}/reachability`]: {
    body: { state: 'stale', last_heartbeat_at: '2026-02-01T11:58:00.000Z', changed_at: '2026-02-01T11:59:30.000Z' },
  },
  [`GET /v1/domains/${ID.domain}/reachability-history`]: ({ query }) => ({
    body: {
      domain_id: ID.domain,
      interval_seconds: 300,
      since: query.get('since') ?? '2026-01-31T12:00:00.000Z',
      until: '2026-02-01T12:00:00.000Z',
      samples: [
        { at: '2026-02-01T11:50:00.000Z', healthy: 2, stale: 0, unreachable: 0, never_reported: 1 },
        { at: '2026-02-01T11:55:00.000Z', healthy: 1, stale: 1, unreachable: 0, never_reported: 1 },
      ],
    },
  }),
  'GET /v1/domains': page([DOMAIN]),
  [`GET /v1/domains/${ID.domain}`]: { body: DOMAIN },
  [`PATCH /v1/domains/${ID.domain}`]: ({ body }) => ({ body: { ...DOMAIN, ...(body as object) } }),
  [`GET /v1/domains/${ID.domain}/usage`]: {
    body: { id: ID.domain, slug: 'default', nodes: 3, projects: 1, api_tokens: 2 },
  },
  [`GET /v1/domains/${ID.lab}/usage`]: { body: { id: ID.lab, slug: 'lab', nodes: 0, projects: 12, api_tokens: 0 } },
  [`DELETE /v1/domains/${ID.domain}`]: {
    ...refused(409, 'domain_not_empty', 'The Domain still holds objects; the counts name them.'),
    body: {
      type: '/problems/domain-not-empty',
      title: 'Domain not empty',
      status: 409,
      detail: 'The Domain still holds objects; the counts name them.',
      code: 'domain_not_empty',
      correlation_id: '00000000-0000-4000-a000-00000000c0de',
      counts: { projects: 1, nodes: 3, groups: 0 },
    },
  },
  [`GET /v1/domains/${ID.domain}/projects`]: page([PROJECT]),
  [`GET /v1/projects/${ID.project}/resources`]: page([]),
  [`POST /v1/domains/${ID.domain}/projects`]: ({ body }) => {
    const { slug, display_name } = body as { slug: string; display_name: string }
    if (slug === 'web') return refused(409, 'slug_conflict', 'Another object in the same place has this slug.')
    return { status: 201, body: { ...PROJECT, slug, display_name } }
  },
  [`POST /v1/domains/${ID.domain}/join-tokens`]: ({ body }) => ({
    status: 201,
    body: {
      id: ID.ci,
      domain_id: ID.domain,
      project_id: null,
      node_id: null,
      prefix: `jtk_local_${ID.ci.replaceAll('-', '')}`,
      labels: {},
      ephemeral: false,
      max_uses: (body as { max_uses?: number }).max_uses ?? 1,
      uses: 0,
      created_by: WHOAMI.subject,
      created_at: '2026-02-01T12:00:00.000Z',
      expires_at: '2026-02-01T13:00:00.000Z',
      revoked_at: null,
      token: `jtk_local_${ID.ci.replaceAll('-', '')}_${'b'.repeat(49)}`,
    },
  }),
  [`GET /v1/domains/${ID.domain}/invitations`]: page([
    invitation('carla@acme.example', {}),
    invitation('ben@acme.example', {
      id: '019c1a10-0000-7000-8000-0000000c0002',
      accepted_at: '2026-01-31T12:00:00.000Z',
      accepted_by: WHOAMI.subject,
    }),
  ]),
  [`POST /v1/domains/${ID.domain}/invitations`]: ({ body }) => {
    const { email } = body as { email: string }
    if (email === 'carla@acme.example') {
      return refused(409, 'invitation_already_exists', 'An open invitation for this address exists in the Domain.')
    }
    return { status: 201, body: invitation(email, {}) }
  },
  [`DELETE /v1/domains/${ID.domain}/invitations/${ID.invitation}`]: { status: 204 },
  'GET /v1/nodes': filtered(NODES),
  [`GET /v1/nodes/${ID.web}`]: {
    body: detail(NODES[0], {
      nat_type: 'port_restricted',
      endpoint_reported_at: '2026-02-01T11:58:00.000Z',
      capabilities: {
        binary_version: '1.4.0',
        binary_checksum: 'ab'.repeat(32),
        ssh_host_key_fingerprint: `SHA256:${'k'.repeat(43)}`,
        architecture: 'x86_64',
        hooks: [
          { name: 'backup', checksum: 'cd'.repeat(32) },
          { name: 'restart-db', checksum: 'ef'.repeat(32) },
        ],
        updated_at: '2026-02-01T11:00:00.000Z',
      },
    }),
  },
  [`GET /v1/nodes/${ID.db}`]: { body: detail(NODES[1]) },
  [`GET /v1/nodes/${ID.old}`]: { body: detail(NODES[2]) },
  [`DELETE /v1/nodes/${ID.web}`]: { status: 204 },
  [`DELETE /v1/nodes/${ID.db}`]: {
    status: 403,
    headers: { 'content-type': 'application/problem+json' },
    body: {
      type: '/problems/permission-denied',
      title: 'Permission denied',
      status: 403,
      detail: 'The caller lacks the relation that this operation needs.',
      code: 'permission_denied',
      correlation_id: '00000000-0000-4000-a000-00000000c0de',
      reason: 'insufficient_relation',
      relation_path: [],
      missing_relation: { object: `node:${ID.db}`, relation: 'node-operate', subject: WHOAMI.subject },
    },
  },
  'POST /v1/authz/check': ({ body }) => {
    const { relation } = body as { relation: string }
    const isAllowed = relation === 'read'
    return {
      body: isAllowed
        ? { decision: 'allowed', relation_path: ['viewer', 'domain'], correlation_id: 'c' }
        : { decision: 'denied', reason: 'insufficient_relation', correlation_id: 'c' },
    }
  },
  'GET /v1/auth/tokens': { body: TOKENS },
  'POST /v1/auth/tokens': ({ body }) => ({
    status: 201,
    body: {
      ...token(ID.ci, (body as { name: string }).name),
      token: `psk_local_${ID.ci.replaceAll('-', '')}_${'c'.repeat(49)}`,
    },
  }),
  [`POST /v1/auth/tokens/${ID.ci}/rotate`]: {
    headers: { sunset: 'Sun, 01 Feb 2026 13:00:00 GMT' },
    body: { ...token(ID.ci, 'ci'), token: `psk_local_${ID.ci.replaceAll('-', '')}_${'d'.repeat(49)}` },
  },
  [`DELETE /v1/auth/tokens/${ID.ci}`]: { status: 204 },
  [`GET /v1/domains/${ID.domain}/identities`]: ({ query }) => identities(query),
  [`GET /v1/domains/${ID.domain}/identities/${ID.build}`]: { body: BUILD },
  [`PATCH /v1/domains/${ID.domain}/service-identities/${ID.build}`]: ({ body }) => ({
    body: { ...BUILD, ...(body as object) },
  }),
  [`DELETE /v1/domains/${ID.domain}/service-identities/${ID.build}`]: [
    {
      ...refused(
        409,
        'service_identity_in_use',
        'Something that the service identity asked for is still under way; end it first.',
      ),
    },
    { status: 204 },
  ],
  [`GET /v1/domains/${ID.domain}/trust-bundles`]: { body: { bundles: [trustBundle(null)] } },
  [`PUT /v1/domains/${ID.domain}/trust-bundles`]: ({ body }) => {
    const { bundles } = body as { bundles: unknown[] }
    return { body: { bundles: bundles.length === 0 ? [] : [trustBundle('2026-02-01T11:58:00.000Z')] } }
  },
  [`POST /v1/domains/${ID.domain}/service-identities`]: ({ body }) =>
    (body as { display_name: string }).display_name === 'Again'
      ? refused(
          409,
          'service_identity_already_exists',
          'A service identity with this subject or SPIFFE ID exists in the Domain.',
        )
      : {
          status: 201,
          body: {
            id: ID.build,
            kind: 'service-identity',
            domain_id: ID.domain,
            display_name: 'Build',
            external_subject_pseudonym: '0'.repeat(64),
            last_sign_in_at: null,
            created_at: '2026-02-01T12:00:00.000Z',
          },
        },
  'GET /v1/admin/tokens': ({ query }) =>
    query.get('identity_ref') === `service:${ID.build}`
      ? { body: [token(ID.ci, 'deploy')] }
      : refused(404, 'identity_not_found', 'No such identity exists in this Domain.'),
  [`DELETE /v1/admin/tokens/${ID.ci}`]: { status: 204 },
  'GET /v1/admin/users': page([
    account(ID.ci, 'ana'),
    account(ID.laptop, 'ben', { display_name: 'Ben', disabled: true, second_factors: [], last_sign_in_at: null }),
  ]),
  'POST /v1/admin/users': ({ body }) => {
    const { login, display_name } = body as { login: string; display_name: string }
    if (login === 'ana')
      return refused(409, 'account_already_exists', 'A local account with this login or address exists.')
    const fresh = { display_name, must_change_password: true, second_factors: [], last_sign_in_at: null }
    return { status: 201, body: { ...account(ID.build, login, fresh), one_time_password: ONE_TIME } }
  },
  [`PATCH /v1/admin/users/${ID.ci}`]: ({ body }) => {
    const { disabled, reset_password: isReset } = body as { disabled?: boolean; reset_password?: true }
    const { reset_second_factors: isBare } = body as { reset_second_factors?: true }
    return {
      body: {
        ...account(ID.ci, 'ana'),
        ...(disabled !== undefined && { disabled }),
        ...(isReset && { one_time_password: ONE_TIME }),
        ...(isBare && { second_factors: [] }),
      },
    }
  },
  [`PATCH /v1/admin/users/${ID.laptop}`]: ({ body }) => ({
    body: account(ID.laptop, 'ben', { ...(body as object), display_name: 'Ben', second_factors: [] }),
  }),
  [`DELETE /v1/admin/users/${ID.ci}`]: refused(
    409,
    'last_platform_admin',
    'The platform would be left without an administrator.',
  ),
  [`DELETE /v1/admin/users/${ID.laptop}`]: { status: 204 },
  'GET /v1/signing-keys': { body: { keys: [signingKey('current', 'a'), signingKey('next', 'b')] } },
  'POST /v1/signing-keys/rotate': {
    body: {
      kid: 'b'.repeat(43),
      signs_from: '2026-02-01T12:10:00.000Z',
      previous_kid: 'a'.repeat(43),
      verifies_until: '2026-02-09T12:10:00.000Z',
    },
  },
  'GET /v1/audit/verify': ({ query }) =>
    query.get('scope') === 'platform' ? { body: BROKEN } : { body: query.has('from_seq') ? VERIFIED_REST : VERIFIED },
  'GET /v1/audit/export': ({ query }) => ({ body: query.has('from_seq') ? EXPORTED_REST : EXPORTED }),
  'GET /v1/audit': ({ query }) =>
    query.get('domain_id') === ID.domain
      ? page([
          {
            id: ID.ci,
            at: '2026-02-01T11:58:00.000Z',
            domain_id: ID.domain,
            subject: WHOAMI.subject,
            relation: 'node.list',
            object: 'platform:main',
            outcome: 'granted',
            reason: '',
            correlation_id: 'c1',
            context: { item_count: 3 },
            subject_name: 'Ada',
            object_name: null,
          },
        ])
      : refused(400, 'invalid_audit_filter', 'A filter of the audit query is missing, malformed or contradictory.'),
}

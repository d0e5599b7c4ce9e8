import type { StubRoutes } from '../support/cli/stub-server.ts'
import { refused } from '../support/cli/stub-server.ts'
import { ID } from './fleet.ts'

const GOOGLE = '019c1a10-0000-7000-8000-0000001d0001'
const SSO = '019c1a10-0000-7000-8000-0000001d0002'
const OKTA = '019c1a10-0000-7000-8000-0000001d0003'

const binding = (id: string, alias: string, more: Readonly<Record<string, unknown>> = {}) => ({
  id,
  domain_id: ID.domain,
  alias,
  label: alias.toUpperCase(),
  issuer: `https://${alias}.example.com`,
  client_id: 'ctl',
  client_secret_ref: `sealed:${id}`,
  api_audience: null,
  algorithms: ['RS256', 'ES256'],
  claims: { subject: 'sub', email: 'email', name: 'name', groups: null, domain: null },
  required_acr: [],
  required_amr: [],
  primary: false,
  active: true,
  auto_provision: null,
  allow_private_network: false,
  created_at: '2026-01-30T12:00:00.000Z',
  updated_at: '2026-01-30T12:00:00.000Z',
  ...more,
})

const OWN = [binding(GOOGLE, 'google', { primary: true }), binding(SSO, 'sso', { active: false })]
const SHARED = [binding(OKTA, 'okta', { domain_id: null })]

const step = (name: string, outcome: 'passed' | 'failed' | 'skipped', says: string) => ({ step: name, outcome, says })

const FOUND = [
  step('discovery', 'passed', 'https://google.example.com publishes itself'),
  step('endpoints', 'passed', 'the issuer has its authorization and token endpoints and supports PKCE with S256'),
  step('keys', 'passed', 'the issuer publishes keys for RS256'),
  step('algorithms', 'passed', 'ID tokens signed with RS256 are taken'),
]

/** Two bindings of the Domain and one that the platform shares. Only a secret that ends in no line break is taken. */
export const IDP: StubRoutes = {
  'GET /v1/admin/idp': ({ query }) => ({
    body: { items: query.get('domain_id') === ID.domain ? OWN : SHARED, next_cursor: null },
  }),
  'POST /v1/admin/idp': ({ body, query }) => {
    const { client_secret: secret, ...sent } = body as { alias: string; client_secret?: string }
    if (sent.alias === 'google') {
      const conflict = refused(409, 'idp_binding_conflict', 'Another binding has this alias, or is primary already.')
      const reason = 'another binding is primary already; make it secondary first'
      return { ...conflict, body: { ...(conflict.body as object), reason } }
    }
    const more = {
      ...sent,
      domain_id: query.get('domain_id'),
      client_secret_ref: secret === 'hunter2' ? `sealed:${SSO}` : null,
    }
    return { status: 201, body: binding(SSO, sent.alias, more) }
  },
  [`PATCH /v1/admin/idp/${SSO}`]: ({ body }) => {
    const { client_secret: secret, ...sent } = body as { client_secret?: string | null }
    return {
      body: binding(SSO, 'sso', { active: false, ...sent, ...(secret === null && { client_secret_ref: null }) }),
    }
  },
  [`PATCH /v1/admin/idp/${OKTA}`]: ({ body }) => ({
    body: binding(OKTA, 'okta', { domain_id: null, ...(body as object) }),
  }),
  [`DELETE /v1/admin/idp/${SSO}`]: { status: 204 },
  [`POST /v1/admin/idp/${GOOGLE}/test`]: {
    body: {
      passed: true,
      steps: [
        ...FOUND,
        step('authorization', 'passed', 'the issuer knows the client and its redirect URI'),
        step('client', 'passed', 'the issuer takes the client secret'),
      ],
    },
  },
  [`POST /v1/admin/idp/${SSO}/test`]: {
    body: {
      passed: false,
      steps: [
        step('discovery', 'failed', 'sso.example.com is not at a public address'),
        ...['endpoints', 'keys', 'algorithms', 'authorization', 'client'].map((name) =>
          step(name, 'skipped', 'not tried'),
        ),
      ],
    },
  },
}

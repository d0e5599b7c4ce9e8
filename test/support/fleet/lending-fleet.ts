import { refused, type StubRoutes } from '../cli/stub-server.ts'

/** Fixed ids of the routes below. */
export const LENT_ID = {
  project: '019c1a10-0000-7000-8000-0000000a0001',
  domain: '019c1a10-0000-7000-8000-0000000d0001',
  eu1: '019c1a10-0000-7000-8000-000000c00001',
  eu2: '019c1a10-0000-7000-8000-000000c00002',
  production: '019c1a10-0000-7000-8000-000000cc0001',
  assignment: '019c1a10-0000-7000-8000-000000ca0001',
  secret: '019c1a10-0000-7000-8000-0000005e0001',
  approval: '019c1a10-0000-7000-8000-000000ab0001',
} as const

const at = { created_at: '2026-01-30T12:00:00.000Z', updated_at: '2026-01-30T12:00:00.000Z' }
/** A Cloud without anything that its commands look at. */
export const lentCloud = (id: string, slug: string) => ({
  id,
  slug,
  display_name: slug,
  provider: 'hetzner',
  endpoint: {},
  region_defaults: {},
  external_id: '',
  provider_packages: [],
  provider_config_api_version: 'v1',
  ...at,
})
const credential = (state: string) => ({
  id: LENT_ID.production,
  cloud_id: LENT_ID.eu1,
  display_name: 'production',
  state,
  expires_at: null,
  secret_version: 1,
  rotated_at: null,
  revoked_by: null,
  revoked_reason: null,
  ...at,
})
const assignment = (more: object) => ({
  id: LENT_ID.assignment,
  project_id: LENT_ID.project,
  state: 'requested',
  materialised: false,
  approval_id: LENT_ID.approval,
  ...at,
  ...more,
})
const secret = {
  id: LENT_ID.secret,
  project_id: LENT_ID.project,
  name: 'registry-token',
  latest_version: 2,
  versions: [
    { version: 1, created_by: 'user:x', created_at: at.created_at },
    { version: 2, created_by: 'user:x', created_at: at.created_at },
  ],
  users: [],
  ...at,
}
/** A list of one page. */
export const page = (...items: readonly object[]) => ({ body: { items, next_cursor: null } })

/** Two Clouds, one credential, what a Project has requested of them, and a secret of the Project. */
export const LENT: StubRoutes = {
  'GET /v1/auth/whoami': { body: { subject: 'user:x', kind: 'user', domain_id: LENT_ID.domain, credential: {} } },
  [`GET /v1/domains/${LENT_ID.domain}/projects`]: page({ id: LENT_ID.project, slug: 'web', ...at }),
  'GET /v1/clouds': page(lentCloud(LENT_ID.eu1, 'eu1'), lentCloud(LENT_ID.eu2, 'eu2')),
  [`GET /v1/clouds/${LENT_ID.eu1}/credentials`]: page(credential('active')),
  [`GET /v1/cloud-credentials/${LENT_ID.production}`]: { body: credential('active') },
  [`PATCH /v1/cloud-credentials/${LENT_ID.production}`]: ({ body }) => ({
    body: credential((body as { readonly state: string }).state),
  }),
  [`POST /v1/clouds/${LENT_ID.eu1}/credentials`]: { status: 201, body: credential('active') },
  [`POST /v1/projects/${LENT_ID.project}/cloud-assignments`]: {
    status: 201,
    body: assignment({ cloud_id: LENT_ID.eu1 }),
  },
  [`GET /v1/projects/${LENT_ID.project}/cloud-assignments`]: page(
    assignment({ cloud_id: LENT_ID.eu1 }),
    assignment({ id: LENT_ID.approval, cloud_id: LENT_ID.domain }),
  ),
  [`POST /v1/projects/${LENT_ID.project}/credential-assignments`]: {
    status: 201,
    body: assignment({ cloud_credential_id: LENT_ID.production }),
  },
  [`GET /v1/projects/${LENT_ID.project}/credential-assignments`]: page(
    assignment({ cloud_credential_id: LENT_ID.production }),
  ),
  [`POST /v1/cloud-credentials/${LENT_ID.production}/rotate`]: {
    body: { ...credential('active'), secret_version: 2, rotated_at: at.updated_at },
  },
  [`POST /v1/cloud-credentials/${LENT_ID.production}/revoke`]: {
    body: { ...credential('revoked'), revoked_by: 'user:x', revoked_reason: 'leaked' },
  },
  [`DELETE /v1/cloud-credentials/${LENT_ID.production}`]: refused(
    409,
    'cloud_credential_in_use',
    'A Project has the credential, or has requested it.',
  ),
  [`POST /v1/cloud-assignments/${LENT_ID.assignment}/revoke`]: refused(
    409,
    'cloud_assignment_in_use',
    'Credentials of the Cloud are lent to the Project.',
  ),
  [`POST /v1/credential-assignments/${LENT_ID.assignment}/revoke`]: {
    body: assignment({
      cloud_credential_id: LENT_ID.production,
      state: 'revoked',
      revoked_by: 'user:x',
      revoked_reason: 'over',
    }),
  },
  [`GET /v1/projects/${LENT_ID.project}/provider-configs/${LENT_ID.eu1}`]: {
    body: {
      cloud_id: LENT_ID.eu1,
      slug: 'eu1',
      provider: 'hetzner',
      provider_config_api_version: 'v1beta1',
      provider_packages: [{ source: 'oci://registry.example.com/provider-hetzner', version: 'v1.4' }],
      endpoint: { api_url: 'https://api.hetzner.cloud/v1' },
      region_defaults: {},
      credential: { cloud_credential_id: LENT_ID.production, secret_version: 1 },
    },
  },
  [`GET /v1/projects/${LENT_ID.project}/secrets`]: page(secret),
  [`GET /v1/projects/${LENT_ID.project}/secrets/registry-token`]: { body: secret },
  [`PUT /v1/projects/${LENT_ID.project}/secrets/registry-token`]: { body: secret },
  [`DELETE /v1/projects/${LENT_ID.project}/secrets/registry-token`]: refused(
    409,
    'secret_in_use',
    'The secret is used by configurations.',
  ),
}

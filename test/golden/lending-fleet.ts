import { refused, type StubRoutes } from '../support/cli/stub-server.ts'
import { ID } from './fleet.ts'

const CLOUD = '019c1a10-0000-7000-8000-0000000c1001'
const CREDENTIAL = '019c1a10-0000-7000-8000-0000000c2001'
const OF_CLOUD = '019c1a10-0000-7000-8000-0000000c3001'
const OF_CREDENTIAL = '019c1a10-0000-7000-8000-0000000c4001'
const APPROVAL = '019c1a10-0000-7000-8000-0000000a9001'

const shared = {
  project_id: ID.project,
  state: 'approved',
  materialised: true,
  approval_id: APPROVAL,
  created_at: '2026-02-01T11:00:00.000Z',
  updated_at: '2026-02-01T11:30:00.000Z',
}
const requested = { ...shared, state: 'requested', materialised: false }
const revoked = { ...shared, state: 'revoked', materialised: false, revoked_reason: 'moved away' }
const cloudAssignment = { id: OF_CLOUD, cloud_id: CLOUD, ...shared }
const credentialAssignment = { id: OF_CREDENTIAL, cloud_credential_id: CREDENTIAL, ...shared }
const page = (...items: readonly object[]) => ({ body: { items, next_cursor: null } })

/** One Cloud that is lent to the Project with one of its credentials. */
export const LENDING: StubRoutes = {
  'GET /v1/clouds': page({ id: CLOUD, slug: 'eu1', display_name: 'EU 1', provider: 'hetzner' }),
  [`GET /v1/projects/${ID.project}/cloud-assignments`]: page(cloudAssignment),
  [`POST /v1/projects/${ID.project}/cloud-assignments`]: { status: 201, body: { ...cloudAssignment, ...requested } },
  [`POST /v1/cloud-assignments/${OF_CLOUD}/revoke`]: ({ body }) =>
    Object(body).cascade === true
      ? { body: { ...cloudAssignment, ...revoked } }
      : refused(
          409,
          'cloud_assignment_in_use',
          'Credentials of the Cloud are lent to the Project, or requested; the counts say how many. Revoke them first, or all at once with cascade.',
        ),
  [`GET /v1/projects/${ID.project}/credential-assignments`]: page(credentialAssignment),
  [`POST /v1/projects/${ID.project}/credential-assignments`]: ({ body }) =>
    Object(body).cloud_id === CLOUD
      ? { status: 201, body: { ...credentialAssignment, ...requested } }
      : refused(409, 'duplicate_live_assignment', 'The Project already has this assignment, or has requested it.'),
  [`POST /v1/credential-assignments/${OF_CREDENTIAL}/revoke`]: { body: { ...credentialAssignment, ...revoked } },
  [`GET /v1/projects/${ID.project}/provider-configs/${CLOUD}`]: {
    body: {
      cloud_id: CLOUD,
      slug: 'eu1',
      provider: 'hetzner',
      provider_config_api_version: 'v1beta1',
      provider_packages: [{ source: 'oci://registry.example.com/provider-hetzner', version: 'v1.4' }],
      endpoint: { api_url: 'https://api.hetzner.cloud/v1' },
      region_defaults: { location: 'fsn1' },
      credential: { cloud_credential_id: CREDENTIAL, secret_version: 3 },
    },
  },
}

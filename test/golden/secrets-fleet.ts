import { refused, type StubRoutes } from '../support/cli/stub-server.ts'
import { ID } from './fleet.ts'

const CLOUD = '019c1a10-0000-7000-8000-000000000c01'
const CREDENTIAL = '019c1a10-0000-7000-8000-000000000c02'
const SECRET = '019c1a10-0000-7000-8000-000000000c03'
const at = (day: number): string => `2026-01-${String(day).padStart(2, '0')}T08:00:00.000Z`

const version = (number: number) => ({ version: number, created_by: `user:${ID.me}`, created_at: at(10 + number) })

const secret = {
  id: SECRET,
  project_id: ID.project,
  name: 'registry',
  latest_version: 2,
  versions: [version(1), version(2)],
  users: [{ object: `resource:${ID.lab}`, version: null }],
  created_at: at(11),
  updated_at: at(12),
}

const credential = {
  id: CREDENTIAL,
  cloud_id: CLOUD,
  display_name: 'production',
  state: 'active',
  expires_at: '2026-06-01T00:00:00.000Z',
  secret_version: 3,
  rotated_at: at(20),
  revoked_by: null,
  revoked_reason: null,
  created_at: at(2),
  updated_at: at(20),
}

const AWAY = refused(503, 'secret_store_unavailable', 'The secret store cannot be used right now; retry shortly.')
const USED = refused(409, 'secret_in_use', 'Objects still use the secret; the users name them.')

/** Secrets of a Project, and a credential of a Cloud. */
export const SECRETS: StubRoutes = {
  [`GET /v1/projects/${ID.project}/secrets`]: { body: { items: [secret], next_cursor: null } },
  [`GET /v1/projects/${ID.project}/secrets/registry`]: { body: secret },
  [`PUT /v1/projects/${ID.project}/secrets/registry`]: { body: secret },
  [`DELETE /v1/projects/${ID.project}/secrets/registry`]: ({ query }) =>
    query.has('version') ? { status: 204 } : USED,
  'GET /v1/clouds': {
    body: {
      items: [
        { id: CLOUD, slug: 'eu1' },
        { id: SECRET, slug: 'us1' },
      ],
      next_cursor: null,
    },
  },
  [`GET /v1/clouds/${CLOUD}/credentials`]: { body: { items: [credential], next_cursor: null } },
  [`POST /v1/clouds/${CLOUD}/credentials`]: { status: 201, body: credential },
  [`GET /v1/cloud-credentials/${CREDENTIAL}`]: { body: credential },
  [`PATCH /v1/cloud-credentials/${CREDENTIAL}`]: ({ body }) => ({ body: { ...credential, ...(body as object) } }),
  [`POST /v1/cloud-credentials/${CREDENTIAL}/rotate`]: AWAY,
  [`POST /v1/cloud-credentials/${CREDENTIAL}/revoke`]: {
    body: { ...credential, state: 'revoked', revoked_by: `user:${ID.me}`, revoked_reason: 'It leaked' },
  },
  [`DELETE /v1/cloud-credentials/${CREDENTIAL}`]: { status: 204 },
}

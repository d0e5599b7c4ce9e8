import { PROBLEMS } from '../../src/shared/problems.ts'
import { refused, type StubRoutes } from '../support/cli/stub-server.ts'
import { FLEET, ID } from './fleet.ts'

const HOOK = '019c1a10-0000-7000-8000-0000000e4001'
const CHAT = '019c1a10-0000-7000-8000-0000000e4002'
const delivery = (number: number): string => `019c1a10-0000-7000-8000-0000000e5${String(number).padStart(3, '0')}`

const WEBHOOK = {
  id: HOOK,
  domain_id: ID.domain,
  url: 'https://hooks.acme.example/ctl',
  events: ['node.offline', 'node.online'],
  for_seconds: 300,
  description: null as string | null,
  scheme: 'v1',
  public_key: null as string | null,
  both_keys_until: null as string | null,
  enabled: true,
  disabled_at: null as string | null,
  disabled_reason: null as string | null,
  failing_since: null as string | null,
  pending: 0,
  dropped: 0,
  created_by: `user:${ID.me}`,
  created_at: '2026-02-01T08:00:00.000Z',
  updated_at: '2026-02-01T08:00:00.000Z',
}

/** Its endpoint failed for five days. */
const DEAD = {
  ...WEBHOOK,
  id: CHAT,
  url: 'https://chat.acme.example/hooks/1',
  events: ['approval.requested'],
  scheme: 'v1a',
  public_key: 'whpk_u7YWk1wlvvReobmiP8MD8BJ+e0brSxTanhJKn0j/Tj8=',
  enabled: false,
  disabled_at: '2026-02-01T07:00:00.000Z',
  disabled_reason: 'failing',
  failing_since: '2026-01-27T07:00:00.000Z',
  dropped: 12,
}

const DELIVERED = {
  id: delivery(1),
  webhook_id: HOOK,
  type: 'node.offline',
  state: 'delivered',
  attempts: 1,
  last_attempt_at: '2026-02-01T11:58:00.000Z',
  last_status: 204 as number | null,
  last_failure: null as string | null,
  last_answer: null as string | null,
  last_duration_ms: 48,
  next_attempt_at: null as string | null,
  message: { type: 'node.offline', timestamp: '2026-02-01T11:58:00.000Z', data: { node_name: 'web-1' } },
  created_at: '2026-02-01T11:58:00.000Z',
  ended_at: '2026-02-01T11:58:00.000Z' as string | null,
}

const WAITING = {
  ...DELIVERED,
  id: delivery(2),
  state: 'pending',
  attempts: 3,
  last_status: 503,
  last_failure: 'The endpoint answered 503.',
  last_answer: 'try later',
  next_attempt_at: '2026-02-01T12:20:00.000Z',
  ended_at: null,
}

const TESTED = { ...DELIVERED, id: delivery(3), type: 'ctl.test' }

const UNREACHED = {
  ...TESTED,
  state: 'failed',
  last_status: null,
  last_failure: 'The endpoint cannot be reached: ECONNREFUSED.',
}

const SECRET = 'whsec_BQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU='

/** A Domain with two webhooks, one of which is disabled. */
export const webhooksFleet = (): { readonly routes: StubRoutes } => ({
  routes: {
    ...FLEET,
    [`GET /v1/domains/${ID.domain}/webhooks`]: { body: { items: [DEAD, WEBHOOK], next_cursor: null } },
    [`POST /v1/domains/${ID.domain}/webhooks`]: ({ body }) => {
      const { url } = body as { readonly url: string }
      if (url === WEBHOOK.url) return refused(409, 'webhook_already_exists', PROBLEMS.webhook_already_exists.detail)
      if (url.startsWith('http:')) return refused(400, 'invalid_webhook_url', PROBLEMS.invalid_webhook_url.detail)
      return { status: 201, body: { ...WEBHOOK, url, secret: SECRET } }
    },
    [`GET /v1/webhooks/${HOOK}`]: { body: WEBHOOK },
    [`GET /v1/webhooks/${CHAT}`]: { body: DEAD },
    [`PATCH /v1/webhooks/${CHAT}`]: { body: { ...DEAD, enabled: true, disabled_at: null, disabled_reason: null } },
    [`DELETE /v1/webhooks/${CHAT}`]: { status: 204 },
    [`POST /v1/webhooks/${HOOK}/rotate-secret`]: {
      body: { ...WEBHOOK, both_keys_until: '2026-02-02T12:00:00.000Z', secret: SECRET },
    },
    [`POST /v1/webhooks/${HOOK}/test`]: { body: TESTED },
    [`POST /v1/webhooks/${CHAT}/test`]: { body: UNREACHED },
    [`GET /v1/webhooks/${HOOK}/deliveries`]: { body: { items: [WAITING, DELIVERED], next_cursor: null } },
    [`POST /v1/webhooks/${HOOK}/deliveries/${delivery(2)}/redeliver`]: { body: WAITING },
    [`POST /v1/webhooks/${CHAT}/deliveries/${delivery(2)}/redeliver`]: refused(
      409,
      'webhook_disabled',
      PROBLEMS.webhook_disabled.detail,
    ),
  },
})

import { WEBHOOKS_MAX } from '../webhooks/limits.ts'
import { invalid, limited, row } from './row.ts'

/** Problems of webhooks. */
export const WEBHOOKS_PROBLEMS = {
  invalid_webhook_id: invalid('Invalid webhook id', 'The webhook id must be a UUID other than zero.'),
  invalid_delivery_id: invalid('Invalid delivery id', 'The delivery id must be a UUID other than zero.'),
  invalid_webhook_url: invalid(
    'Invalid address',
    'The address must be an https URL without user, password and fragment, at most 2048 characters; plain http only for hosts that the server allows.',
  ),
  webhook_not_found: row(404, 'Webhook not found', 'There is no such webhook, or you may not see it.'),
  webhook_delivery_not_found: row(404, 'Delivery not found', 'The webhook has no such delivery, or no longer.'),
  webhook_already_exists: row(409, 'Webhook exists', 'The Domain has a webhook with this address already.'),
  webhook_disabled: row(409, 'Webhook disabled', 'The webhook is disabled; enable it before something is sent again.'),
  webhook_limit_exceeded: row(
    409,
    'Too many webhooks',
    `A Domain has at most ${WEBHOOKS_MAX} webhooks; delete one first.`,
  ),
  webhook_test_running: limited('Test running', 'Two tests of the webhook are running; retry when they have ended.'),
  webhooks_not_provisioned: row(501, 'Not provisioned', 'This server does not send webhooks.'),
} as const

import { z } from 'zod'
import { ENDED_DAYS, ENDED_MAX, WEBHOOKS_MAX } from '../webhooks/limits.ts'
import { KiB, pageQuery, uuidField } from './fields.ts'
import { runtime } from './noun-words.ts'
import { check, defineSurface, OPERATOR } from './operation.ts'
import { nonEmptyPatch } from './patch.ts'
import {
  DeliveryState,
  Webhook,
  WebhookCreated,
  WebhookCreateRequest,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookList,
  WebhookPatchRequest,
  WebhookRotated,
} from './webhook-schemas.ts'

const ofDomain = z.strictObject({ id: uuidField('invalid_domain_id', 'Domain') })
const params = z.strictObject({ id: uuidField('invalid_webhook_id', 'Webhook') })
const common = { credentials: OPERATOR, notProvisioned: 'webhooks_not_provisioned' } as const
const managed = {
  ...check('manage', 'domain:{row.domain_id}'),
  missingRow: 'webhook_not_found',
  fold: 'webhook_not_found',
} as const
const columns = ['url', 'events', 'enabled', 'pending', 'failing_since', 'disabled_reason', 'id']
const keyed = ['url', 'public_key', 'id']
const wide = [
  'public_key',
  'for_seconds',
  'scheme',
  'dropped',
  'description',
  'disabled_at',
  'created_by',
  'created_at',
]
const deliveryColumns = ['id', 'type', 'state', 'attempts', 'last_status', 'last_failure', 'next_attempt_at']
const deliveryWide = ['created_at', 'last_attempt_at', 'last_duration_ms', 'last_answer', 'ended_at']
const refs = { id: 'webhooks' }

export const webhooks = defineSurface(
  'webhooks',
  {
    summary: 'Events of a Domain, sent to endpoints by Standard Webhooks',
    nouns: {
      webhooks: {
        section: 'Fleet',
        position: 13,
        types: ['webhook'],
        files: runtime('The secret of a webhook is shown once, to those who create it'),
      },
    },
  },
  {
    CreateWebhook: {
      ...common,
      method: 'POST',
      path: '/v1/domains/{id}/webhooks',
      summary: 'Create a webhook in a Domain',
      description: `Messages are signed by Standard Webhooks. They may come twice and in any order. At most ${WEBHOOKS_MAX} in a Domain.`,
      params: ofDomain,
      body: WebhookCreateRequest,
      bodyBytesMax: 8 * KiB,
      gate: check('manage', 'domain:{path.id}'),
      audit: { relation: 'webhook.create', when: 'all' },
      responses: { 201: WebhookCreated },
      headers: { Location: 'Path of the new webhook' },
      problems: ['domain_not_found', 'webhook_already_exists', 'webhook_limit_exceeded'],
      cli: {
        command: 'webhooks create',
        args: ['url'],
        refs: { id: 'domains' },
        columns: [...keyed, 'events', 'enabled'],
        wide,
        handle: { member: 'url', taken: 'webhook_already_exists' },
        examples: [
          'ctl webhooks create https://hooks.acme.example/ctl --events node.offline,node.online --for 5m',
          'ctl webhooks create https://hooks.acme.example/ctl --events approval.requested --scheme v1a',
        ],
        done: 'Created webhook {url}. Messages may come twice and in any order. Try it with: ctl webhooks test {url}',
      },
    },
    ListWebhooks: {
      ...common,
      method: 'GET',
      path: '/v1/domains/{id}/webhooks',
      summary: 'List the webhooks of a Domain, newest first',
      description: 'Shows which are disabled, since when and why, and how many deliveries wait.',
      params: ofDomain,
      query: z.strictObject(pageQuery),
      gate: check('manage', 'domain:{path.id}'),
      audit: { relation: 'webhook.list', when: 'all' },
      paging: { limit: 'rejected', cursor: 'operation' },
      responses: { 200: WebhookList },
      problems: [],
      cli: { command: 'webhooks list', refs: { id: 'domains' }, columns, wide },
    },
    GetWebhook: {
      ...common,
      method: 'GET',
      path: '/v1/webhooks/{id}',
      summary: 'Show a webhook',
      description: 'Its secret is not shown again.',
      params,
      gate: managed,
      audit: { relation: 'webhook.read', when: 'all' },
      responses: { 200: Webhook },
      problems: [],
      cli: { command: 'webhooks show', args: ['id'], refs, columns, wide },
    },
    PatchWebhook: {
      ...common,
      method: 'PATCH',
      path: '/v1/webhooks/{id}',
      summary: 'Change a webhook, disable it or enable it again',
      description:
        'A disabled webhook gets no messages, and those that wait are dropped. A message that waits is sent to the address that the webhook has then.',
      params,
      body: WebhookPatchRequest,
      patch: nonEmptyPatch(),
      bodyBytesMax: 8 * KiB,
      gate: managed,
      audit: { relation: 'webhook.update', when: 'all' },
      responses: { 200: Webhook },
      problems: ['webhook_already_exists'],
      cli: {
        command: 'webhooks update',
        args: ['id'],
        refs,
        // `--url` is the server's.
        flags: { url: { name: 'address' } },
        columns,
        wide,
        examples: ['ctl webhooks update https://hooks.acme.example/ctl --enabled'],
        done: 'Changed webhook {url}.',
      },
    },
    DeleteWebhook: {
      ...common,
      method: 'DELETE',
      path: '/v1/webhooks/{id}',
      summary: 'Delete a webhook with its deliveries',
      description: 'Deliveries that wait are not sent. One that is on its way may still arrive.',
      params,
      gate: managed,
      audit: { relation: 'webhook.delete', when: 'all' },
      responses: { 204: null },
      problems: [],
      cli: { command: 'webhooks delete', args: ['id'], refs, confirm: 'yes', done: 'Deleted webhook {id}.' },
    },
    RotateWebhookSecret: {
      ...common,
      method: 'POST',
      path: '/v1/webhooks/{id}/rotate-secret',
      summary: 'Give a webhook a new key',
      description:
        'For 24 hours both keys sign, so that the endpoint can be changed meanwhile. Another rotation within that time ends the older of the two.',
      params,
      gate: managed,
      audit: { relation: 'webhook.rotate', when: 'all' },
      responses: { 200: WebhookRotated },
      problems: [],
      cli: {
        command: 'webhooks rotate-secret',
        args: ['id'],
        refs,
        columns: [...keyed, 'both_keys_until'],
        wide,
        done: 'Webhook {url} has a new key. The one before it signs too until {both_keys_until}.',
      },
    },
    TestWebhook: {
      ...common,
      method: 'POST',
      path: '/v1/webhooks/{id}/test',
      summary: 'Send a test message now and show what came of it',
      description:
        'Sends one message of the type ctl.test and waits at most 15 s for the answer. It is not sent again. A disabled webhook can be tested.',
      params,
      gate: managed,
      audit: { relation: 'webhook.test', when: 'all' },
      responses: { 200: WebhookDelivery },
      problems: ['webhook_test_running'],
      cli: { command: 'webhooks test', args: ['id'], refs, columns: deliveryColumns, wide: deliveryWide },
    },
    ListWebhookDeliveries: {
      ...common,
      method: 'GET',
      path: '/v1/webhooks/{id}/deliveries',
      summary: 'List the deliveries of a webhook, newest first',
      description: `Filter by \`state\`. Ended deliveries are kept for ${ENDED_DAYS} days, the newest ${ENDED_MAX} of them.`,
      params,
      query: z.strictObject({
        state: DeliveryState.optional().meta({ problem: 'invalid_status', description: 'One state only' }),
        ...pageQuery,
      }),
      gate: managed,
      audit: { relation: 'webhook_delivery.list', when: 'all' },
      paging: { limit: 'rejected', cursor: 'operation', parents: ['state'] },
      responses: { 200: WebhookDeliveryList },
      problems: [],
      cli: { command: 'webhooks deliveries', args: ['id'], refs, columns: deliveryColumns, wide: deliveryWide },
    },
    RedeliverWebhookDelivery: {
      ...common,
      method: 'POST',
      path: '/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver',
      summary: 'Send a delivery again, with the same webhook-id',
      description:
        'It is sent at once and repeated as a new one would be. One that waits is sent now instead of at its next attempt.',
      params: params.extend({ delivery_id: uuidField('invalid_delivery_id', 'Delivery') }),
      gate: managed,
      audit: { relation: 'webhook_delivery.redeliver', when: 'all' },
      responses: { 200: WebhookDelivery },
      problems: ['webhook_delivery_not_found', 'webhook_disabled'],
      cli: {
        command: 'webhooks redeliver',
        args: ['id', 'delivery_id'],
        refs,
        columns: deliveryColumns,
        wide: deliveryWide,
        done: 'Delivery {id} is sent again. See what comes of it: ctl webhooks deliveries {webhook_id}',
      },
    },
  },
)

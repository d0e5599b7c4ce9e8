import { z } from 'zod'
import { DELIVERY_STATES, DISABLED_REASONS, MESSAGE_TYPES, WEBHOOK_EVENTS } from '../webhooks/event-types.ts'
import { BOTH_KEYS_HOURS, FOR_SECONDS } from '../webhooks/limits.ts'
import { withRule, type NamedMembers, type RuleFault } from './body-rules.ts'
import { CreatedAt, CreatedBy, InDomain, Instant, OwnId, pageOf, UpdatedAt } from './fields.ts'

const Url = z
  .string()
  .max(2048)
  .meta({ problem: 'invalid_webhook_url' })
  .describe('Where messages are sent by POST: an https URL without user, password and fragment')

const Events = z
  .array(z.enum(WEBHOOK_EVENTS))
  .min(1)
  .max(WEBHOOK_EVENTS.length)
  .describe('Types of messages that are sent; node.online only together with node.offline')

const ForSeconds = z
  .int()
  .min(FOR_SECONDS.min)
  .max(FOR_SECONDS.max)
  .describe(
    `How long a node has to be out of reach before node.offline is sent, counted from when it is stale; ${FOR_SECONDS.fallback} s by default`,
  )

const Description = z.string().max(256).describe('What the webhook is for, at most 256 characters')

/** node.online is sent only after a node.offline. */
function onlineFault({ events }: NamedMembers): RuleFault | undefined {
  if (!Array.isArray(events) || !events.includes('node.online') || events.includes('node.offline')) return undefined
  return { code: 'invalid_body', members: ['events'], detail: 'must have node.offline beside node.online' }
}

export const WebhookCreateRequest = withRule(
  z.strictObject({
    url: Url,
    events: Events,
    for_seconds: ForSeconds.optional(),
    description: Description.optional(),
    scheme: z
      .enum(['v1', 'v1a'])
      .optional()
      .describe('v1: HMAC-SHA256 with a secret; v1a: Ed25519 with a public key; v1 by default'),
  }),
  onlineFault,
).meta({ id: 'WebhookCreateRequest', description: 'A new webhook.' })

export const WebhookPatchRequest = withRule(
  z.strictObject({
    url: Url.optional(),
    events: Events.optional(),
    for_seconds: ForSeconds.optional(),
    description: Description.nullable().optional().describe('What the webhook is for; null for nothing'),
    enabled: z.boolean().optional().describe('Whether messages are sent; true also ends what disabled it'),
  }),
  onlineFault,
).meta({ id: 'WebhookPatchRequest', description: 'Members of a webhook to change.' })

export const Webhook = z
  .object({
    id: OwnId,
    domain_id: InDomain,
    url: z.string().describe('Where messages are sent; unique in the Domain'),
    events: z.array(z.string()).describe('Types of messages that are sent, in alphabetical order'),
    for_seconds: z.int().describe('How long a node has to be out of reach before node.offline is sent'),
    description: z.string().nullable().describe('What the webhook is for'),
    scheme: z.string().describe('`v1`: HMAC-SHA256 with a secret; `v1a`: Ed25519 with a public key'),
    public_key: z.string().nullable().describe('Verifies signatures of v1a, `whpk_…`; null with v1'),
    both_keys_until: Instant.nullable().describe(
      'Until when the key before the last rotation signs too; null: it does not',
    ),
    enabled: z.boolean().describe('Whether messages are sent'),
    disabled_at: Instant.nullable().describe('When it was disabled; null while it is enabled'),
    disabled_reason: z
      .enum(DISABLED_REASONS)
      .nullable()
      .describe('`requested`: by a person; `gone`: the endpoint answered 410; `failing`: five days of failures alone'),
    failing_since: Instant.nullable().describe('First failure since the last success; null where none failed'),
    pending: z.int().describe('Deliveries that wait'),
    dropped: z.int().describe('Deliveries that were dropped since the webhook was created, because too many waited'),
    created_by: CreatedBy,
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'Webhook', description: 'An endpoint to which events of a Domain are sent.' })

const secret = z.string().optional().meta({
  description: 'With v1: the secret that signatures are verified with, `whsec_…`; shown only once',
  'x-service-write-once': true,
})

export const WebhookCreated = Webhook.extend({ secret }).meta({
  id: 'WebhookCreated',
  description: 'A new webhook, with its secret where it has one.',
})

export const WebhookRotated = Webhook.extend({ secret }).meta({
  id: 'WebhookRotated',
  description: `A webhook with its new key. For ${BOTH_KEYS_HOURS} hours the one before it signs too.`,
})

export const WebhookList = pageOf(Webhook).meta({ id: 'WebhookList', description: 'A page of webhooks.' })

export const DeliveryState = z.enum(DELIVERY_STATES)

export const WebhookDelivery = z
  .object({
    id: OwnId.describe('Id of the delivery, which every attempt sends as webhook-id'),
    webhook_id: z.string().meta({ format: 'uuid', description: 'Id of the webhook' }),
    type: z.enum(MESSAGE_TYPES).describe('Type of the message'),
    state: DeliveryState.describe(
      '`pending`: it waits or is on its way; `dropped`: it ended because too many waited or the webhook was disabled',
    ),
    attempts: z.int().describe('How often it was sent'),
    last_attempt_at: Instant.nullable().describe('When it was sent last'),
    last_status: z.int().nullable().describe('Status of the last answer; null where there was none'),
    last_failure: z.string().nullable().describe('Why the last attempt failed, in words; null after a success'),
    last_answer: z.string().nullable().describe('Beginning of the answer of the last failure, at most 256 characters'),
    last_duration_ms: z.int().nullable().describe('How long the last attempt took'),
    next_attempt_at: Instant.nullable().describe('When it is sent next, at the earliest; null when it has ended'),
    message: z.record(z.string(), z.unknown()).describe('The body that is sent'),
    created_at: CreatedAt,
    ended_at: Instant.nullable().describe('When it ended; null before'),
  })
  .meta({ id: 'WebhookDelivery', description: 'A message on its way to an endpoint, or that ended.' })

export const WebhookDeliveryList = pageOf(WebhookDelivery).meta({
  id: 'WebhookDeliveryList',
  description: 'A page of deliveries.',
})

/** What a webhook may subscribe to, in alphabetical order. */
export const WEBHOOK_EVENTS = [
  'approval.requested',
  'capacity.crossed',
  'integrity.opened',
  'node.offline',
  'node.online',
  'rollout.halted',
  'token.expiring',
] as const

export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number]

/** The type of the message that a test sends. No webhook subscribes to it. */
export const TEST_EVENT = 'ctl.test'

/** The type of a message. */
export type MessageType = WebhookEvent | typeof TEST_EVENT

/** Every type of messages. */
export const MESSAGE_TYPES = [...WEBHOOK_EVENTS, TEST_EVENT] as const

/** What ends a webhook's deliveries. */
export const DISABLED_REASONS = ['requested', 'gone', 'failing'] as const

export type DisabledReason = (typeof DISABLED_REASONS)[number]

/** `dropped`: it ended because the queue was full or the webhook was disabled. */
export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'dropped'] as const

export type DeliveryState = (typeof DELIVERY_STATES)[number]

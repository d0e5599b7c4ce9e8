/** Webhooks of a Domain at most. */
export const WEBHOOKS_MAX = 20

/** Deliveries of a webhook that wait at most; the oldest beyond are dropped. */
export const PENDING_MAX = 10_000

/** Ended deliveries of a webhook that are kept at most. */
export const ENDED_MAX = 1_000

/** How long an ended delivery is kept, in days. */
export const ENDED_DAYS = 7

/** How long a node has to be out of reach before `node.offline` is sent, in seconds. */
export const FOR_SECONDS = { min: 30, max: 86_400, fallback: 300 } as const

/** How long before its end an API token is announced, in days. */
export const EXPIRING_DAYS = 7

/** How long both keys sign after a rotation, in hours. */
export const BOTH_KEYS_HOURS = 24

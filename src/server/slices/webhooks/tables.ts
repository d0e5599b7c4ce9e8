import type { Generated } from 'kysely'
import type { DeliveryState, DisabledReason, MessageType, WebhookEvent } from '../../../shared/webhooks/event-types.ts'

export interface WebhookRow {
  id: string
  domain_id: string
  url: string
  /** In alphabetical order. */
  events: WebhookEvent[]
  for_seconds: number
  description: string | null
  scheme: 'v1' | 'v1a'
  disabled_at: Date | null
  disabled_reason: DisabledReason | null
  /** The first failure since the last success; null where none failed. */
  failing_since: Date | null
  last_failed_at: Date | null
  /** Failed attempts since the last success. */
  failures: Generated<number>
  /** Until when nothing is sent after failures; null: no pause. */
  resume_at: Date | null
  /** Deliveries that were dropped because too many waited. */
  dropped: Generated<string>
  created_by: string
  created_at: Date
  updated_at: Date
}

/** A key that signs. The newest one of a webhook has no end. */
export interface WebhookKeyRow {
  id: string
  webhook_id: string
  /** The secret of v1, or the seed of the Ed25519 key of v1a. */
  sealed: Buffer
  /** `whpk_…` with v1a. */
  public_key: string | null
  created_at: Date
  retires_at: Date | null
}

export interface WebhookDeliveryRow {
  /** Also its `webhook-id`. */
  id: string
  webhook_id: string
  type: MessageType
  /** What happened: a webhook gets one delivery of it. */
  event_key: string
  /** JSON, as it is sent. */
  message: string
  state: DeliveryState
  attempts: Generated<number>
  /** Attempts since it was created or sent again by request: the place in the table of retries. */
  tries: Generated<number>
  /** Who sends it now; the claim ends at `next_attempt_at`. */
  claim: string | null
  next_attempt_at: Date | null
  last_attempt_at: Date | null
  last_status: number | null
  last_failure: string | null
  last_answer: string | null
  last_duration_ms: number | null
  created_at: Date
  ended_at: Date | null
}

/** A webhook was sent `node.offline` about the node, and no `node.online` since. */
export interface WebhookOfflineNodeRow {
  webhook_id: string
  node_id: string
  /** The last heartbeat before the outage. */
  offline_since: Date
}

/** A webhook was sent `token.expiring` about the API token. */
export interface WebhookAnnouncedTokenRow {
  webhook_id: string
  token_id: string
}

declare module '../../ports/tables/tables.ts' {
  interface Tables {
    webhooks: WebhookRow
    webhook_keys: WebhookKeyRow
    webhook_deliveries: WebhookDeliveryRow
    webhook_offline_nodes: WebhookOfflineNodeRow
    webhook_announced_tokens: WebhookAnnouncedTokenRow
  }
}

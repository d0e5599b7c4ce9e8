import { sql } from 'kysely'
import type { DisabledReason } from '../../../shared/webhooks/event-types.ts'
import type { Db } from '../../ports/datastore.ts'

/** The webhooks of all Domains, for the metrics. */
export interface WebhookQueue {
  /** Messages that are due or wait for another attempt, counted up to 100,000. */
  readonly pending: number
  /** Webhooks to which nothing is sent, by why. */
  readonly disabled: Readonly<Record<DisabledReason, number>>
}

/** Reads what waits in the queue, and how many webhooks are disabled. */
export async function readWebhookQueue(db: Db): Promise<WebhookQueue> {
  const { rows } = await sql<{ pending: number } & Record<DisabledReason, number>>`
    select (select count(*)::integer from (
        select from webhook_deliveries where state = 'pending' limit 100000
      ) as waiting) as pending,
      count(*) filter (where disabled_reason = 'gone')::integer as gone,
      count(*) filter (where disabled_reason = 'failing')::integer as failing,
      count(*) filter (where disabled_reason = 'requested')::integer as requested
    from webhooks`.execute(db)
  const { pending = 0, gone = 0, failing = 0, requested = 0 } = rows[0] ?? {}
  return { pending, disabled: { gone, failing, requested } }
}

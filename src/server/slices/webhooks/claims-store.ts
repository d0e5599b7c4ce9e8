import { sql } from 'kysely'
import type { MessageType } from '../../../shared/webhooks/event-types.ts'
import type { Db } from '../../ports/datastore.ts'

/** A delivery that is due, with what sending it needs. */
export interface DueDelivery {
  readonly id: string
  readonly webhook_id: string
  readonly domain_id: string
  readonly url: string
  readonly type: MessageType
  readonly message: string
  readonly tries: number
  /** Failures of the endpoint since its last success. */
  readonly failures: number
}

export interface DueQuery {
  readonly now: Date
  /** Deliveries at most, in all and of one webhook. */
  readonly max: number
  readonly maxOfWebhook: number
  readonly busyWebhooks: readonly string[]
  /** Webhooks to which one is being sent: while they fail, nothing more of them is due. */
  readonly sendingWebhooks: readonly string[]
  readonly busyDomains: readonly string[]
}

/**
 * Locks what is due, the longest due first. Jumps from one webhook that something waits for to the next one, so that a queue of one
 * webhook costs the others nothing. What cannot be sent now is left out, so that it takes no place of what can.
 */
export async function lockDue(tx: Db, query: DueQuery): Promise<readonly DueDelivery[]> {
  const { now, max, maxOfWebhook, busyWebhooks, sendingWebhooks, busyDomains } = query
  const { rows } = await sql<DueDelivery>`
    with recursive waiting as (
      (select webhook_id from webhook_deliveries where state = 'pending' order by webhook_id limit 1)
      union all
      select (
        select d.webhook_id from webhook_deliveries as d
        where d.state = 'pending' and d.webhook_id > waiting.webhook_id
        order by d.webhook_id limit 1
      ) from waiting where waiting.webhook_id is not null
    ), due as (
      select d.id, w.domain_id, w.url, w.failures
      from waiting join webhooks as w on w.id = waiting.webhook_id
      cross join lateral (
        select id, next_attempt_at from webhook_deliveries
        where webhook_id = w.id and state = 'pending' and next_attempt_at <= ${now}
        order by next_attempt_at limit ${maxOfWebhook}
      ) as d
      where w.disabled_at is null and (w.resume_at is null or w.resume_at <= ${now})
        and w.id <> all(${busyWebhooks}::uuid[]) and (w.failures = 0 or w.id <> all(${sendingWebhooks}::uuid[]))
        and w.domain_id <> all(${busyDomains}::uuid[])
      order by d.next_attempt_at limit ${max}
    )
    select d.id, d.webhook_id, due.domain_id, due.url, d.type, d.message, d.tries, due.failures
    from due join webhook_deliveries as d on d.id = due.id
    where d.state = 'pending' and d.next_attempt_at <= ${now}
    order by d.next_attempt_at
    for update of d skip locked`.execute(tx)
  return rows
}

/** Claims deliveries up to that instant, and counts their attempts. */
export async function claim(
  tx: Db,
  { ids, claim: id, until }: { readonly ids: readonly string[]; readonly claim: string; readonly until: Date },
): Promise<void> {
  await sql`
    update webhook_deliveries set claim = ${id}, next_attempt_at = ${until}, attempts = attempts + 1, tries = tries + 1
    where id = any(${ids}::uuid[])`.execute(tx)
}

/** Gives up claims of attempts that were broken off; they are due at once, and are not counted. */
export async function release(
  db: Db,
  { id, claim: own, now }: { readonly id: string; readonly claim: string; readonly now: Date },
): Promise<void> {
  await sql`
    update webhook_deliveries set claim = null, next_attempt_at = ${now}, attempts = attempts - 1, tries = tries - 1
    where id = ${id} and claim = ${own}`.execute(db)
}

import { sql } from 'kysely'
import { ENDED_DAYS, ENDED_MAX } from '../../../shared/webhooks/limits.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Db } from '../../ports/datastore.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { createBatchDelete } from '../../sql/batch-delete.ts'

const MINUTE_MS = 60_000
const ROWS_MAX = 1_000
/** Webhooks whose deliveries ended lately are examined: longer than a pause between two passes. */
const LATELY_MS = 10 * MINUTE_MS

/** The jobs that delete what is over: old deliveries, those beyond what is kept of a webhook, and keys that sign no more. */
export function createWebhookSweepers(clock: Clock): readonly LeaderJob[] {
  return [
    createBatchDelete(clock, {
      name: 'old-webhook-deliveries',
      table: 'webhook_deliveries',
      key: 'id',
      endedAt: 'ended_at',
      keptMs: ENDED_DAYS * 24 * 60 * MINUTE_MS,
      everyMs: MINUTE_MS,
      rowsMax: ROWS_MAX,
    }),
    createBatchDelete(clock, {
      name: 'old-webhook-keys',
      table: 'webhook_keys',
      key: 'id',
      endedAt: 'retires_at',
      keptMs: 0,
      everyMs: MINUTE_MS,
      rowsMax: ROWS_MAX,
    }),
    {
      name: 'surplus-webhook-deliveries',
      everyMs: MINUTE_MS,
      async run(leading) {
        const since = new Date(clock.now() - LATELY_MS)
        return (await leading.transaction((tx) => deleteSurplus(tx, since))) === ROWS_MAX
      },
    },
  ]
}

/** Deletes ended deliveries beyond the newest of each webhook. One that somebody is using is left to a later pass. */
async function deleteSurplus(tx: Db, since: Date): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from webhook_deliveries where id in (
      select surplus.id from (select distinct webhook_id from webhook_deliveries where ended_at >= ${since}) as lately
      cross join lateral (
        select id from webhook_deliveries
        where webhook_id = lately.webhook_id and ended_at is not null
        order by ended_at desc offset ${ENDED_MAX} limit ${ROWS_MAX}
      ) as surplus
      limit ${ROWS_MAX}
    ) and ended_at is not null`.execute(tx)
  return Number(numAffectedRows)
}

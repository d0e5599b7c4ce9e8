import { ENDED_DAYS, ENDED_MAX } from '../../../shared/webhooks/limits.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { createBatchDelete } from '../../sql/batch-delete.ts'
import { deleteSurplusEnded } from './deliveries-store.ts'

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
        return (
          (await leading.transaction((tx) => deleteSurplusEnded(tx, { since, kept: ENDED_MAX, max: ROWS_MAX }))) ===
          ROWS_MAX
        )
      },
    },
  ]
}

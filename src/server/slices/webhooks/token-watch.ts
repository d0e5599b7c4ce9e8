import { EXPIRING_DAYS } from '../../../shared/webhooks/limits.ts'
import type { Clock, IdSource } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { enqueue, messageOf, type Envelope } from './enqueue.ts'
import { holdExpiring, markAnnounced, type ExpiringToken } from './tokens-store.ts'

const EVERY_MS = 60_000
const AHEAD_SECONDS = EXPIRING_DAYS * 24 * 60 * 60
/** Messages of one transaction. */
const MESSAGES_MAX = 500

/** The job that queues `token.expiring`, once for each API token and webhook: it inserts a mark in the same transaction. */
export function createTokenWatch({ clock, ids }: { readonly clock: Clock; readonly ids: IdSource }): LeaderJob {
  return {
    name: 'webhook-tokens',
    everyMs: EVERY_MS,
    async run(leading) {
      const now = new Date(clock.now())
      return leading.transaction(async (tx) => {
        const tokens = await holdExpiring(tx, { now, aheadSeconds: AHEAD_SECONDS, max: MESSAGES_MAX })
        await markAnnounced(tx, tokens)
        await enqueue(tx, tokens.map(expiringOf(now)), { ids, now })
        return tokens.length === MESSAGES_MAX
      })
    },
  }
}

const expiringOf =
  (now: Date) =>
  ({ webhook_id: webhookId, token_id, name, owner, domain_id, domain_slug, expires_at }: ExpiringToken): Envelope => ({
    webhookId,
    key: `token.expiring:${token_id}`,
    message: messageOf('token.expiring', now, {
      domain_id,
      domain_slug,
      path: `/v1/admin/tokens/${token_id}`,
      token_id,
      name,
      owner,
      expires_at: expires_at.toISOString(),
    }),
  })

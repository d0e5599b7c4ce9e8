import type { DisabledReason, MessageType } from '../../../shared/webhooks/event-types.ts'
import { TEST_EVENT } from '../../../shared/webhooks/event-types.ts'
import type { Clock, IdSource } from '../../ports/clock.ts'
import type { Change, UnitOfWork } from '../../ports/unit-of-work.ts'
import { dropPending, updateClaimed, type DeliveryChange } from './deliveries-store.ts'
import { endpointPauseAfter, pauseAfter } from './retry-table.ts'
import { isGone, type Outcome } from './sender.ts'
import { disabled, lockWebhook, UNFAILED, updateWebhook, type WebhookRecord } from './store.ts'
import { referenceOf, SYSTEM } from './webhook.ts'

const HOUR_MS = 60 * 60 * 1000
/** How long failures alone may last before the webhook is disabled. */
const FAILING_MAX_MS = 5 * 24 * HOUR_MS
/** Failures further apart do not belong to one outage: nothing was sent in between. */
const FAILURES_APART_MS = 48 * HOUR_MS

/** An attempt that was made. */
export interface MadeAttempt {
  readonly id: string
  readonly webhook_id: string
  readonly type: MessageType
  readonly claim: string
  /** Attempts since the delivery was created or sent again by request, this one among them. */
  readonly tries: number
}

/** Stores what came of an attempt. An attempt whose claim has ended is left to the one that has it now. */
export type Settle = (attempt: MadeAttempt, outcome: Outcome) => Promise<void>

export interface SettleDeps {
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly ids: IdSource
  /** From 0 to below 1. */
  readonly random: () => number
  /** Called when a webhook was disabled because of its endpoint. */
  readonly onDisabled: (webhook: { readonly id: string; readonly domainId: string; readonly reason: string }) => void
}

export function createSettle({ unitOfWork, clock, ids, random, onDisabled }: SettleDeps): Settle {
  return async (attempt, outcome) => {
    const options = { pool: 'worker', correlationId: ids.next() } as const
    const ended = await unitOfWork.run(options, async (change) => {
      // Everybody locks the webhook before its deliveries.
      const webhook = await lockWebhook(change.db, attempt.webhook_id)
      if (webhook === undefined) return undefined
      const now = new Date(clock.now())
      const facts = { attempt, outcome, webhook, now, random: random() }
      if (!(await updateClaimed(change.db, attempt, columnsOf(facts)))) return undefined
      // A test says nothing about the messages that the endpoint is to get, and neither does a message that was not sent.
      return attempt.type === TEST_EVENT || !outcome.isSent ? undefined : noteOutcome(change, facts)
    })
    if (ended !== undefined) onDisabled(ended)
  }
}

interface Facts {
  readonly attempt: MadeAttempt
  readonly outcome: Outcome
  readonly webhook: WebhookRecord
  readonly now: Date
  readonly random: number
}

function columnsOf(facts: Facts): DeliveryChange {
  const { outcome, now } = facts
  const last = {
    last_attempt_at: now,
    last_status: outcome.status ?? null,
    last_failure: outcome.failure ?? null,
    last_answer: outcome.answer ?? null,
    last_duration_ms: outcome.durationMs,
  }
  if (outcome.failure === undefined) return { ...last, state: 'delivered', next_attempt_at: null, ended_at: now }
  const pauseMs = nextPause(facts)
  if (pauseMs === undefined) return { ...last, state: 'failed', next_attempt_at: null, ended_at: now }
  return { ...last, next_attempt_at: new Date(now.getTime() + pauseMs) }
}

/** Undefined: it is not sent again. */
function nextPause({ attempt, outcome, webhook, random }: Facts): number | undefined {
  const isLast = attempt.type === TEST_EVENT || webhook.disabled_at !== null || isGone(outcome) || !outcome.isSent
  if (isLast) return undefined
  return pauseAfter({ tries: attempt.tries, retryAfterMs: outcome.retryAfterMs, random })
}

/** What the outcome means for the webhook. Returns a webhook that it disabled. */
async function noteOutcome(change: Change, facts: Facts) {
  const { outcome, webhook, now } = facts
  if (outcome.failure === undefined) return noteSuccess(change, webhook)
  if (webhook.disabled_at !== null) return undefined
  const failingSince = failingSinceOf(webhook, now)
  const failures = webhook.failures + 1
  await updateWebhook(change.db, webhook.id, {
    failures,
    failing_since: failingSince,
    last_failed_at: now,
    resume_at: new Date(now.getTime() + endpointPauseAfter(failures, outcome.retryAfterMs)),
  })
  if (isGone(outcome)) return disable(change, { webhook, reason: 'gone', now })
  if (now.getTime() - failingSince.getTime() >= FAILING_MAX_MS)
    return disable(change, { webhook, reason: 'failing', now })
  return undefined
}

function failingSinceOf({ failing_since: since, last_failed_at: last }: WebhookRecord, now: Date): Date {
  const isOneOutage = last !== null && now.getTime() - last.getTime() <= FAILURES_APART_MS
  return since !== null && isOneOutage ? since : now
}

/** Writes nothing where nothing had failed: successes are the rule. */
async function noteSuccess({ db }: Change, webhook: WebhookRecord): Promise<undefined> {
  if (webhook.failures === 0 && webhook.resume_at === null) return
  await updateWebhook(db, webhook.id, UNFAILED)
}

interface Disabling {
  readonly webhook: WebhookRecord
  readonly reason: DisabledReason
  readonly now: Date
}

async function disable(change: Change, { webhook, reason, now }: Disabling) {
  const { id, domain_id: domainId } = webhook
  await updateWebhook(change.db, id, disabled(reason, now))
  await dropPending(change.db, id, now)
  const object = referenceOf(id)
  change.emit({ event: 'WebhookDisabled', domainId, aggregate: object, payload: { webhook_id: id, reason } })
  change.audit({
    domainId,
    subject: SYSTEM,
    relation: 'webhook.disable',
    object,
    outcome: 'granted',
    reason: 'granted',
    context: { disabled_reason: reason },
  })
  return { id, domainId, reason }
}

import { z } from 'zod'
import { toNobody } from '../../ports/outbox-events.ts'

const account = z.object({ account_id: z.string() })

/** Outbox events of local accounts. */
export const events = {
  LocalAccountCreated: toNobody(account),
  LocalAccountUpdated: toNobody(account),
  LocalAccountDeleted: toNobody(account),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

import { z } from 'zod'
import { toNobody } from '../../ports/outbox-events.ts'

/** Outbox events of browser sessions. */
export const events = {
  'identity.UserSignedOut': toNobody(z.object({ sessions_revoked: z.number() })),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

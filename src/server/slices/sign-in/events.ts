import { z } from 'zod'
import { toNobody } from '../../ports/outbox-events.ts'

const text = z.string()

/** Outbox events of signing in. */
export const events = {
  'identity.UserSignedIn': toNobody(z.object({ user_id: text, binding_id: text, session_id: text })),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

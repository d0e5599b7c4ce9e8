import { z } from 'zod'
import { toNobody } from '../../ports/outbox-events.ts'

const text = z.string()
const token = z.object({ token_id: text, owner: text })

/** Outbox events of API tokens. */
export const events = {
  APITokenIssued: toNobody(token),
  APITokenRotated: toNobody(token.extend({ rotated_to: text, retires_at: text })),
  APITokenRevoked: toNobody(token),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

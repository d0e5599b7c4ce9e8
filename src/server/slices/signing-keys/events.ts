import { z } from 'zod'
import { toNobody } from '../../ports/outbox-events.ts'

/** Outbox events of signing keys. */
export const events = {
  SigningKeysRotated: toNobody(z.object({ kid: z.string(), previous_kid: z.string() })),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

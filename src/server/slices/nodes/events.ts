import { z } from 'zod'
import { toNobody } from '../../ports/outbox-events.ts'

const text = z.string()

/** Outbox events of nodes that no other node receives. */
export const events = {
  NodeReachabilityChanged: toNobody(z.object({ node_id: text, from: text, to: text, changed_at: text })),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

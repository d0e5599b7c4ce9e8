import { z } from 'zod'
import { aboutNode, toNode, toOwnBlock } from '../../ports/outbox-events.ts'

const text = z.string()

/** Outbox events of mediated sessions. */
export const events = {
  session_issued: toNode(
    'session_setup',
    aboutNode.extend({
      session_id: text,
      jti: text,
      kind: z.enum(['ssh', 'cluster_api', 'tcp']),
      target: text,
      expires_at: text,
      idle_timeout_seconds: z.number().optional(),
    }),
  ),
  session_revoked: toOwnBlock('sessions', aboutNode.extend({ session_id: text })),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

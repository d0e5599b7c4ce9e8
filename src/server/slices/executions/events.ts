import { z } from 'zod'
import { aboutNode, toNode, toOwnBlock } from '../../ports/outbox-events.ts'

const text = z.string()

/** Outbox events of executions. */
export const events = {
  execution_requested: toNode(
    'action_request',
    aboutNode.extend({
      execution_id: text,
      action: text,
      type: z.enum(['builtin', 'hook']),
      parameters: z.record(text, z.unknown()).optional(),
      status: text,
      requested_at: text,
      expires_at: text,
    }),
  ),
  execution_cancelled: toOwnBlock('executions', aboutNode.extend({ execution_id: text })),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

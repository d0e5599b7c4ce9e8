import { z } from 'zod'
import { toNobody } from '../../ports/outbox-events.ts'

const about = z.object({ rollout_id: z.string(), slug: z.string(), version: z.string() })

/** Outbox events of rollouts. Nodes receive the executions. */
export const events = {
  RolloutCreated: toNobody(about),
  RolloutStarted: toNobody(about.extend({ node_count: z.int() })),
  RolloutHalted: toNobody(about.extend({ reason: z.string() })),
  RolloutCompleted: toNobody(about),
  RolloutCancelled: toNobody(about),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

import { z } from 'zod'
import { toNobody } from '../../ports/outbox-events.ts'

/** Outbox events of targets and of crossings. */
export const events = {
  CapacityThresholdCrossed: toNobody(z.object({ domain_id: z.string(), dimension: z.string() })),
  CapacityTargetsUpdated: toNobody(
    z.object({ domain_id: z.string(), targets: z.record(z.string(), z.int().nullable()) }),
  ),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

import { z } from 'zod'
import { toNobody } from '../../ports/outbox-events.ts'

const violation = z.object({ violation_id: z.string(), node_id: z.string(), kind: z.string(), artifact_id: z.string() })

/** Outbox events of decisions on violations. */
export const events = {
  IntegrityViolationAcknowledged: toNobody(violation.extend({ acknowledged_by: z.string() })),
  IntegrityViolationResolved: toNobody(violation.extend({ cause: z.string() })),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

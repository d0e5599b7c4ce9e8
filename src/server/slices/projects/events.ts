import { z } from 'zod'
import { toNobody } from '../../ports/outbox-events.ts'

const project = z.object({ project_id: z.string(), slug: z.string() })

/** Outbox events of Projects. */
export const events = {
  ProjectCreated: toNobody(project),
  ProjectUpdated: toNobody(project),
  ProjectDeleted: toNobody(project),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

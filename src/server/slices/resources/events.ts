import { z } from 'zod'
import { toNobody } from '../../ports/outbox-events.ts'

const text = z.string()
const resource = z.object({ resource_id: text, project_id: text, kind: text, slug: text })

/** Outbox events of resources. */
export const events = {
  ResourceCreated: toNobody(resource),
  ResourceUpdated: toNobody(resource),
  ResourceDeleted: toNobody(resource),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

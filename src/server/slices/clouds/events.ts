import { z } from 'zod'
import { toNobody } from '../../ports/outbox-events.ts'

const text = z.string()
const cloud = z.object({ cloud_id: text, slug: text, provider: text })

/** Outbox events of Clouds. */
export const events = {
  CloudCreated: toNobody(cloud),
  CloudUpdated: toNobody(cloud),
  CloudDeleted: toNobody(cloud),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

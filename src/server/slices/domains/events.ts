import { z } from 'zod'
import { toNobody } from '../../ports/outbox-events.ts'

const domain = z.object({ domain_id: z.string(), slug: z.string() })

/** Outbox events of Domains. */
export const events = {
  DomainCreated: toNobody(domain),
  DomainUpdated: toNobody(domain),
  DomainDeleted: toNobody(domain),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

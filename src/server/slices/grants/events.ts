import { grant, toNobody } from '../../ports/outbox-events.ts'

/** Outbox events of grants. */
export const events = {
  GrantDeleted: toNobody(grant),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

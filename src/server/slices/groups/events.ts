import { z } from 'zod'
import { toNobody } from '../../ports/outbox-events.ts'

const group = z.object({ group_id: z.string(), slug: z.string() })
const member = group.extend({ subject: z.string() })

/** Outbox events of groups and their members. */
export const events = {
  GroupCreated: toNobody(group),
  GroupUpdated: toNobody(group),
  GroupDeleted: toNobody(group),
  GroupMemberAdded: toNobody(member),
  GroupMemberRemoved: toNobody(member),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

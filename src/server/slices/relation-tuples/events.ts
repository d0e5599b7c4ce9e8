import { z } from 'zod'
import { toNobody } from '../../ports/outbox-events.ts'

const text = z.string()
const tuple = z.object({ tuple_id: text, subject: text, relation: text, project_id: text.nullable() })

/** Outbox events of relation tuples. */
export const events = {
  RelationTupleCreated: toNobody(tuple),
  RelationTupleDeleted: toNobody(tuple),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

import { z } from 'zod'
import { toNobody } from '../../ports/outbox-events.ts'

const text = z.string()
const binding = z.object({ binding_id: text, alias: text, issuer: text })

/** Outbox events of bindings to identity providers. */
export const events = {
  IdPBindingCreated: toNobody(binding),
  IdPBindingUpdated: toNobody(binding.extend({ active: z.boolean(), sessions_revoked: z.number() })),
  IdPBindingDeleted: toNobody(binding.extend({ sessions_revoked: z.number() })),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

import { z } from 'zod'
import { toNobody } from '../../ports/outbox-events.ts'

const text = z.string()
const created = z.object({ service_identity_id: text, display_name: text })
const changed = created.extend({ disabled: z.boolean() })

/** Outbox events of users and service identities. */
export const events = {
  ServiceIdentityProvisioned: toNobody(created),
  ServiceIdentityUpdated: toNobody(changed),
  ServiceIdentityDeleted: toNobody(changed),
  'identity.UserProvisioned': toNobody(z.object({ user_id: text, binding_id: text })),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

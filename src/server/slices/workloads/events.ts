import { z } from 'zod'
import { toNobody } from '../../ports/outbox-events.ts'

const text = z.string()

/** Outbox events of workloads that sign in. */
export const events = {
  'identity.ServiceIdentityAuthenticated': toNobody(
    z.object({ service_identity_id: text, grant: text, token_id: text }),
  ),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

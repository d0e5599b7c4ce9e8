import { z } from 'zod'
import { toNobody, toSecretHosts } from '../../ports/outbox-events.ts'

const secret = z.object({ secret_id: z.string(), project_id: z.uuid(), name: z.string() })

/** Outbox events of the secrets of Projects. */
export const events = {
  SecretVersionCreated: toSecretHosts(secret.extend({ version: z.number() })),
  /** `version` is null where the whole secret was deleted. */
  SecretDeleted: toNobody(secret.extend({ version: z.number().nullable() })),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

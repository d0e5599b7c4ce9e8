import { z } from 'zod'
import { toNobody } from '../../ports/outbox-events.ts'

const text = z.string()
const credential = z.object({ cloud_credential_id: text, cloud_id: text, display_name: text })

/** Outbox events of the credentials of Clouds. */
export const events = {
  CloudCredentialCreated: toNobody(credential),
  CloudCredentialUpdated: toNobody(credential.extend({ state: text })),
  CloudCredentialDeleted: toNobody(credential),
  CloudCredentialRotated: toNobody(credential.extend({ secret_version: z.number() })),
  CloudCredentialRevoked: toNobody(credential),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

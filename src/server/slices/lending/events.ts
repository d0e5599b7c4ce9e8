import { z } from 'zod'
import { toNobody } from '../../ports/outbox-events.ts'

const text = z.string()
const ofCredential = z.object({ credential_assignment_id: text, project_id: text, cloud_credential_id: text })
const ofCloud = z.object({ cloud_assignment_id: text, project_id: text, cloud_id: text })

/** Outbox events of assignments. The decision on a request is announced as that of its approval. */
export const events = {
  CredentialAssignmentRequested: toNobody(ofCredential.extend({ approval_id: text })),
  CredentialAssignmentRevoked: toNobody(ofCredential),
  CloudAssignmentRequested: toNobody(ofCloud.extend({ approval_id: text })),
  CloudAssignmentRevoked: toNobody(ofCloud),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

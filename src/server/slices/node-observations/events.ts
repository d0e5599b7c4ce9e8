import { z } from 'zod'
import { aboutPeer, toNobody, toPeers } from '../../ports/outbox-events.ts'

/** Outbox events of what nodes report. */
export const events = {
  peer_endpoint_changed: toPeers('endpoint_changed', aboutPeer.extend({ endpoint: z.string() })),
  IntegrityViolationOpened: toNobody(
    z.object({ violation_id: z.string(), node_id: z.string(), kind: z.string(), artifact_id: z.string() }),
  ),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

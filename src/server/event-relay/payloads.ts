import { z } from 'zod'
import type { PeerChange } from '../../shared/events/wire-types.ts'

// What the relay reads in the payloads of outbox rows. Members that it does not name are left out of what nodes hear.

const nodePayload = z.object({ node_id: z.uuid() })

const peerPayload = z.object({
  node_id: z.uuid(),
  endpoint: z.string().optional(),
  fallback_endpoint: z.string().optional(),
  public_key: z.string().optional(),
  mesh_address: z.string().optional(),
  psk_issued_at: z.string().optional(),
})

const revisedPayload = z.object({ policy_id: z.uuid(), revision_id: z.uuid() })

/** The nodes are those that the policy matched when it was deleted: the rows that would tell are gone. */
const deletedPayload = z.object({ policy_id: z.uuid(), revision_id: z.uuid(), node_ids: z.array(z.uuid()) })

const bridgePayload = z.object({ bridge_resource_id: z.uuid() })

/** The node that an event is about. @throws ZodError where it names none. */
export function nodeOf(payload: unknown): string {
  return nodePayload.parse(payload).node_id
}

/** What a `peer_*` event says of its node. @throws ZodError where it is not about a node. */
export function peerChangeOf(change: PeerChange['changes'][number], payload: unknown): PeerChange {
  // A member that is not said is undefined, which no text of it shows.
  return { ...peerPayload.parse(payload), changes: [change] } as PeerChange
}

export const revisedOf = (payload: unknown): z.infer<typeof revisedPayload> => revisedPayload.parse(payload)

export const deletedOf = (payload: unknown): z.infer<typeof deletedPayload> => deletedPayload.parse(payload)

/** The bridge resource that an event is about. @throws ZodError where it names none. */
export function bridgeOf(payload: unknown): string {
  return bridgePayload.parse(payload).bridge_resource_id
}

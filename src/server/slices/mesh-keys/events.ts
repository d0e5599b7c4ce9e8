import { z } from 'zod'
import { aboutNode, aboutPeer, toOwnBlock, toPeers } from '../../ports/outbox-events.ts'

/** Outbox events of keys of the mesh. */
export const events = {
  peer_key_rotated: toPeers('key_rotated', aboutPeer.extend({ public_key: z.string() })),
  rotate_keys: toOwnBlock('keys', aboutNode.extend({ rotation_id: z.string() })),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

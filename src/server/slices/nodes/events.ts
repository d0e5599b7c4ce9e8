import { z } from 'zod'
import { aboutNode, aboutPeer, toNobody, toOwnBlock, toPeers } from '../../ports/outbox-events.ts'

const text = z.string()

/** Outbox events of nodes that only this slice emits. */
export const events = {
  /** A node has another name: what its peers receive. */
  peer_renamed: toPeers('renamed', aboutPeer.extend({ name: text })),
  /** The same for the node itself. */
  node_renamed: toOwnBlock('self', aboutNode),
  NodeReachabilityChanged: toNobody(z.object({ node_id: text, from: text, to: text, changed_at: text })),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

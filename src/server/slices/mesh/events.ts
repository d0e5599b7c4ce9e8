import { z } from 'zod'
import { aboutPeer, toPeers } from '../../ports/outbox-events.ts'

/** Outbox events of the networks behind nodes. Those of nodes and of relays are shared. */
export const events = {
  /** Peers reach other networks through the node than before. */
  peer_subnets_changed: toPeers('subnets_changed', aboutPeer.extend({ subnets: z.array(z.string()) })),
  /** The same of networks that are too many for a hint. */
  domain_subnets_changed: { payload: z.object({}), audience: { to: 'domain' } },
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

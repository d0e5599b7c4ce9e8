import { z } from 'zod'
import { aboutNode, toGroup, toOwnBlock, toPeers } from '../../ports/outbox-events.ts'

/** Outbox events of nodes whose labels, or groups whose members changed. Those of policies themselves are shared. */
export const events = {
  /** The policies of a node changed, since its labels did. */
  node_policies_changed: toOwnBlock('policy', aboutNode),
  /** The groups of a node changed, since its labels did. All of them are listed. */
  peer_groups_changed: toPeers('groups_changed', aboutNode.extend({ groups: z.array(z.int()) })),
  /** Nodes joined a group, or left it. The members are left out where they are too many to list. */
  policy_group_changed: toGroup(),
} as const

type Events = typeof events

declare module '../../ports/outbox-events.ts' {
  interface OutboxEvents extends Events {}
}

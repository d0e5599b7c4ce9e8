import type { Datastore } from '../../../src/server/ports/datastore.ts'
import type { EventBus } from '../../../src/server/ports/event-bus.ts'
import type { Leading } from '../../../src/server/ports/leadership.ts'
import { emptyTables } from '../datastores/empty-tables.ts'
import { leaderParts, type LeaderParts } from '../datastores/leading.ts'
import { relayWorld, seedNodes, type RelayWorld } from './relay-world.ts'

/** The relay under a leader in its first term, over a datastore that held nothing. */
export interface LedRelay {
  readonly parts: LeaderParts
  readonly leading: Leading
  readonly world: RelayWorld
}

export interface Start {
  readonly datastore: Datastore
  /** What the leader's clock says. */
  readonly nowMs: number
  readonly nodes: Parameters<typeof seedNodes>[1]
  /** What events are given to, in place of a bus in memory. */
  readonly stream?: EventBus
}

/** Empties the datastore, adds the nodes and begins a term. Stop the feed of its parts at the end. */
export async function leadRelay({ datastore, nowMs, nodes, stream }: Start): Promise<LedRelay> {
  await emptyTables(datastore)
  const parts = await leaderParts(datastore, nowMs)
  const leading = await parts.lead()
  await seedNodes(datastore, nodes)
  return { parts, leading, world: relayWorld({ parts, leading, ...(stream && { stream }) }) }
}

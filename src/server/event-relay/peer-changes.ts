import type { PeerChange } from '../../shared/events/wire-types.ts'

/** A change of a peer with its place in the outbox. */
export interface PeerHint {
  readonly seq: bigint
  readonly peer: PeerChange
}

/**
 * What two accounts of one peer come to: each change once, where it happened last, so that the last one named is what
 * the peer is now; of the facts the newer ones. Of a peer that is gone, what was said before says nothing any more.
 */
export function mergeChanges(older: PeerChange, newer: PeerChange): PeerChange {
  const changes = [...older.changes.filter((change) => !newer.changes.includes(change)), ...newer.changes]
  const isGone = newer.changes.includes('deregistered')
  return { ...(isGone ? {} : older), ...newer, changes }
}

/**
 * Gathers the changes of one Domain from the newest on towards older ones, and says at each point what has happened
 * since. `max`: of how many peers it tells at most.
 */
export function createGathering(hints: readonly PeerHint[], max: number) {
  const merged = new Map<string, PeerChange>()
  let next = hints.length - 1
  return {
    /**
     * Every peer that changed after that number, newest facts first; undefined where there are more than `max`. Numbers
     * must be asked for in descending order.
     */
    after(seq: bigint): ReadonlyMap<string, PeerChange> | undefined {
      for (let hint = hints[next]; hint !== undefined && hint.seq > seq && merged.size <= max; hint = hints[--next]) {
        const { peer } = hint
        const newer = merged.get(peer.node_id)
        merged.set(peer.node_id, newer === undefined ? peer : mergeChanges(peer, newer))
      }
      return merged.size > max ? undefined : merged
    },
  }
}

import type { PeerChange } from '../../shared/events/wire-types.ts'

/** A change of a peer with the number of its outbox row. */
export interface PeerHint {
  readonly seq: bigint
  readonly peer: PeerChange
}

/**
 * Merges two changes of one peer. Each kind of change is listed once, at its last occurrence, so the last one listed is the
 * peer's present condition. Newer facts replace older ones; a deregistration drops all older facts.
 */
export function mergeChanges(older: PeerChange, newer: PeerChange): PeerChange {
  const changes = [...older.changes.filter((change) => !newer.changes.includes(change)), ...newer.changes]
  const isGone = newer.changes.includes('deregistered')
  return { ...(isGone ? {} : older), ...newer, changes }
}

/**
 * Merges the changes of one Domain, from the newest to older ones, so that lanes at different positions share the work.
 * `hints`: oldest first. `max`: maximum number of peers.
 */
export function createChangeMerger(hints: readonly PeerHint[], max: number) {
  const merged = new Map<string, PeerChange>()
  let next = hints.length - 1
  return {
    /** The peers that changed after `seq`; undefined if there are more than `max`. Call it with descending numbers. */
    since(seq: bigint): ReadonlyMap<string, PeerChange> | undefined {
      for (let hint = hints[next]; hint !== undefined && hint.seq > seq && merged.size <= max; hint = hints[--next]) {
        const { peer } = hint
        const newer = merged.get(peer.node_id)
        merged.set(peer.node_id, newer === undefined ? peer : mergeChanges(peer, newer))
      }
      return merged.size > max ? undefined : merged
    },
  }
}

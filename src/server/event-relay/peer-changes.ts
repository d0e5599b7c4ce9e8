import type { GroupChange, PeerChange } from '../../shared/events/wire-types.ts'
import type { FormerPlace } from '../ports/outbox-events.ts'

/** A change of peers with the number of its outbox row: of one peer, or of a group of them. */
export interface PeerHint {
  readonly seq: bigint
  readonly change: PeerChange | StoredGroupChange
  /** What decided who saw a deregistered peer; absent for other changes. */
  readonly former?: FormerPlace | undefined
}

/** A change of a group. Without lists: too many nodes joined or left it to list them. */
export type StoredGroupChange = Pick<GroupChange, 'group'> & Partial<GroupChange>

/** Merged changes of a Domain's peers. */
export interface MergedChanges {
  /** By node id. */
  readonly peers: ReadonlyMap<string, PeerChange>
  /** By number. */
  readonly groups: ReadonlyMap<number, GroupChange>
}

/** Most node ids that a hint lists in changes of groups: about 64 KiB of JSON. */
const GROUP_MEMBERS_MAX = 1_600
/** Most groups that a hint lists. */
const GROUPS_MAX = 256

/**
 * Merges two changes of one peer. Each kind of change is listed once, at its last occurrence, so the last one listed is the
 * peer's present condition. Newer facts replace older ones; a deregistration drops all older facts, and an endpoint comes
 * with its fallback and its candidates, where there are any.
 */
export function mergeChanges(older: PeerChange, newer: PeerChange): PeerChange {
  const changes = [...older.changes.filter((change) => !newer.changes.includes(change)), ...newer.changes]
  if (newer.changes.includes('deregistered')) return { ...newer, changes }
  const { fallback_endpoint: _fallback, candidates: _candidates, ...others } = older
  return { ...(newer.changes.includes('endpoint_changed') ? others : older), ...newer, changes }
}

/**
 * Merges the changes of one Domain, from the newest to older ones, so that lanes at different positions share the work.
 * `hints`: oldest first. `max`: maximum number of peers.
 */
export function createChangeMerger(hints: readonly PeerHint[], max: number) {
  const peers = new Map<string, PeerChange>()
  const groups = createGroupMerger(peers)
  let next = hints.length - 1

  function addPeer(older: PeerChange): void {
    const newer = peers.get(older.node_id)
    const current = groups.brought(older)
    peers.set(older.node_id, newer === undefined ? current : mergeChanges(current, newer))
  }

  const isOver = (): boolean => peers.size > max || groups.isOver()
  return {
    /** What changed after `seq`; undefined if there is more than a hint lists. Call it with descending numbers. */
    since(seq: bigint): MergedChanges | undefined {
      for (let hint = hints[next]; hint !== undefined && hint.seq > seq && !isOver(); hint = hints[--next]) {
        const { change } = hint
        if ('group' in change) groups.add(change)
        else addPeer(change)
      }
      return isOver() ? undefined : { peers, groups: groups.merged }
    },
  }
}

/**
 * Merges changes of groups, from the newest to older ones. The groups that a change of a peer lists are all that it is in: so
 * that a reader may apply changes of peers and of groups in any order, what a newer change of a peer replaced is left out,
 * and an older one is brought up to the newer changes of groups.
 */
function createGroupMerger(peers: ReadonlyMap<string, PeerChange>) {
  const merged = new Map<number, GroupChange>()
  let members = 0
  let isUnlisted = false

  return {
    merged,
    isOver: () => isUnlisted || members > GROUP_MEMBERS_MAX || merged.size > GROUPS_MAX,
    add({ group, added, removed }: StoredGroupChange): void {
      if (added === undefined || removed === undefined) {
        isUnlisted = true
        return
      }
      const newer = merged.get(group) ?? { group, added: [], removed: [] }
      const known = new Set([...newer.added, ...newer.removed])
      const isOpen = (id: string) => !known.has(id) && peers.get(id)?.groups === undefined
      const joined = { added: added.filter(isOpen), removed: removed.filter(isOpen) }
      members += joined.added.length + joined.removed.length
      merged.set(group, {
        group,
        added: [...newer.added, ...joined.added],
        removed: [...newer.removed, ...joined.removed],
      })
    },
    /** The change of a peer with its groups as the newer changes of groups leave them. */
    brought(peer: PeerChange): PeerChange {
      if (peer.groups === undefined) return peer
      const numbers = new Set(peer.groups)
      for (const { group, added, removed } of merged.values()) {
        if (added.includes(peer.node_id)) numbers.add(group)
        if (removed.includes(peer.node_id)) numbers.delete(group)
      }
      return { ...peer, groups: [...numbers].toSorted((a, b) => a - b) }
    },
  }
}

import type { Change } from '../ports/unit-of-work.ts'
import { peersChanged } from '../sql/state-revisions.ts'
import { groupsOf, writeGroups, type MatchedNode } from './nodes-store.ts'

/** New groups with their members, and groups that exist no longer. */
export interface GroupChanges {
  readonly domainId: string
  /** Ids of the members, by number. */
  readonly added: ReadonlyMap<number, readonly string[]>
  readonly removed: readonly number[]
}

/** Most ids in an outbox row of a group: with more, a hint would not list them. */
const LISTED_MAX = 2_000

/**
 * Puts nodes into new groups and takes them out of groups that exist no longer. Tells it in one outbox row for each group:
 * a row for each node would be a thousand times as much.
 */
export async function changeGroups(
  change: Change,
  nodes: readonly MatchedNode[],
  { domainId, added, removed }: GroupChanges,
): Promise<void> {
  const joined = new Map<string, number[]>()
  for (const [number, members] of added) {
    for (const id of members) joined.set(id, [...(joined.get(id) ?? []), number])
  }
  const left = new Map<number, string[]>(removed.map((number) => [number, []]))
  const changed = nodes.flatMap(({ id, groups }) => {
    const former = removed.length === 0 && !joined.has(id) ? undefined : groupsOf(groups)
    const gone = former?.filter((number) => left.get(number)?.push(id) !== undefined) ?? []
    const numbers = joined.get(id) ?? []
    if (former === undefined || gone.length + numbers.length === 0) return []
    const kept = former.filter((number) => !gone.includes(number))
    return [{ nodeId: id, groups: [...kept, ...numbers].toSorted((a, b) => a - b) }]
  })
  for (const [number, members] of added) emitGroup(change, domainId, { number, added: members, removed: [] })
  for (const [number, members] of left) emitGroup(change, domainId, { number, added: [], removed: members })
  if (changed.length === 0) return
  await peersChanged(
    change.db,
    domainId,
    changed.map(({ nodeId }) => nodeId),
  )
  await writeGroups(change.db, changed)
}

interface GroupChange {
  readonly number: number
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/** Says that nodes joined and left a group; nothing where none did. */
export function emitGroup(
  change: Pick<Change, 'emit'>,
  domainId: string,
  { number, added, removed }: GroupChange,
): void {
  const members = added.length + removed.length
  if (members === 0) return
  const payload = members > LISTED_MAX ? { group: number } : { group: number, added: [...added], removed: [...removed] }
  change.emit({ event: 'policy_group_changed', domainId, aggregate: `domain:${domainId}`, payload })
}

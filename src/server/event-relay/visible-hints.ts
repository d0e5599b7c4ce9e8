import { isAmong, type Runs, type Visibility } from '../policies/visibility.ts'
import { placeIn } from '../policies/world.ts'
import type { RelayPair } from '../sql/edge-mode.ts'
import type { FormerPlace } from '../ports/outbox-events.ts'
import type { PeerHint, StoredGroupChange } from './peer-changes.ts'

/** The nodes that a change is about: by their places, or as they were; `unknown` where it is not known who saw them. */
type Subject =
  | { readonly kind: 'node'; readonly place: number }
  | { readonly kind: 'members'; readonly places: ReadonlyMap<string, number> }
  | { readonly kind: 'former'; readonly classIndex: number }
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' }

/** A hint with the nodes that it is about, in a world in which each sees only some others. */
export interface PlacedHint {
  readonly hint: PeerHint
  readonly subject: Subject
}

/** Finds what hints are about. Nodes that have gone count by what they were. */
export function placeHints(hints: readonly PeerHint[], visibility: Visibility): readonly PlacedHint[] {
  return hints.map((hint) => ({ hint, subject: subjectOf(hint, visibility) }))
}

function subjectOf({ change, former }: PeerHint, { world }: Visibility): Subject {
  if ('group' in change) return membersOf(change, world.ids)
  const place = placeIn(world, change.node_id)
  if (place >= 0) return { kind: 'node', place }
  // The event of its deregistration follows.
  if (!change.changes.includes('deregistered')) return { kind: 'none' }
  if (former === undefined || isNamedRelay(world, change.node_id)) return { kind: 'unknown' }
  return { kind: 'former', classIndex: world.classes.classOf(placeOfFormer(former)) }
}

function isNamedRelay({ relays }: Visibility['world'], nodeId: string): boolean {
  const pairs: readonly RelayPair[] = [relays, ...(relays.preferred?.values() ?? [])]
  return pairs.some(({ relay_node_id: first, second_relay_node_id: second }) => nodeId === first || nodeId === second)
}

function placeOfFormer({ mesh_address: meshAddress, groups, policy_ids: policyIds }: FormerPlace) {
  return { meshAddress, groups, policyIds }
}

function membersOf({ added, removed }: StoredGroupChange, ids: readonly string[]): Subject {
  if (added === undefined || removed === undefined) return { kind: 'unknown' }
  const places = [...added, ...removed].map((id) => [id, placeIn({ ids }, id)] as const)
  return { kind: 'members', places: new Map(places.filter(([, place]) => place >= 0)) }
}

/** The nodes that see what a hint is about; undefined where these are all. */
export function viewersOf({ subject }: PlacedHint, visibility: Visibility): readonly Runs[] | undefined {
  if (subject.kind === 'node') return [visibility.seenBy(subject.place)]
  if (subject.kind === 'members') return viewersOfMembers([...subject.places.values()], visibility)
  if (subject.kind === 'former') return [visibility.seeingClass(subject.classIndex), ...relaysOf(visibility)]
  return subject.kind === 'none' ? [] : undefined
}

function viewersOfMembers(places: readonly number[], visibility: Visibility): readonly Runs[] {
  return [...new Set(places.map((place) => viewersOfMember(place, visibility)))]
}

/** With the member itself where its class sees each other: a hint may name the node that receives it. */
function viewersOfMember(place: number, visibility: Visibility): Runs {
  if (visibility.isRelay(place)) return visibility.seenBy(place)
  return visibility.seeingClass(visibility.world.classOf[place] ?? 0)
}

function relaysOf({ relays }: Visibility): readonly Runs[] {
  return relays.map((place) => [place, place + 1])
}

/** The nodes to which the same hints are visible: of one class, or one relay. */
export function viewerKey(visibility: Visibility, place: number): string {
  return visibility.isRelay(place) ? `relay ${place}` : `class ${visibility.world.classOf[place] ?? 0}`
}

/** The hints that a node may receive, and others of its `viewerKey` too: each is about nodes that they see. */
export function visibleHints(
  placed: readonly PlacedHint[],
  visibility: Visibility,
  viewer: number,
): readonly PeerHint[] {
  const seen = viewersOfMember(viewer, visibility)
  const classIndex = visibility.world.classOf[viewer] ?? 0
  const isVisible = (subject: Subject): boolean => {
    if (subject.kind === 'node') return isAmong(seen, subject.place)
    if (subject.kind === 'former') return sawFormer(visibility, { viewer, classIndex, former: subject.classIndex })
    return subject.kind === 'unknown'
  }
  return placed.flatMap(({ hint, subject }) => {
    if (subject.kind !== 'members') return isVisible(subject) ? [hint] : []
    return visibleMembers(hint, (id) => isAmong(seen, subject.places.get(id) ?? -1))
  })
}

function sawFormer(
  visibility: Visibility,
  { viewer, classIndex, former }: { readonly viewer: number; readonly classIndex: number; readonly former: number },
): boolean {
  // A relay saw all that it might relay.
  return visibility.isRelay(viewer) || visibility.world.classes.mayExchange(classIndex, former)
}

function visibleMembers({ seq, change }: PeerHint, isSeen: (id: string) => boolean): readonly PeerHint[] {
  const { group, added = [], removed = [] } = change as StoredGroupChange // Its subject has members.
  const visible = { group, added: added.filter(isSeen), removed: removed.filter(isSeen) }
  return visible.added.length + visible.removed.length === 0 ? [] : [{ seq, change: visible }]
}

import { PEERS_INLINE_MAX } from '../../shared/events/wire-types.ts'
import type { Visibility } from '../policies/visibility.ts'
import { placeIn } from '../policies/world.ts'
import type { NodeEvent, Template } from './event-template.ts'
import { grouped } from './grouped.ts'
import { hintPayload } from './hint-payload.ts'
import type { DueLane, RecentHints } from './hints-store.ts'
import { createChangeMerger, type PeerHint } from './peer-changes.ts'
import { placeHints, viewerKey, visibleHints } from './visible-hints.ts'

/** A hint with the number of changes that it covers. */
export interface Hint extends NodeEvent {
  readonly changes: number
}

/** The changes that hints are made of, by Domain. */
export interface HintSources {
  readonly recent: ReadonlyMap<string, RecentHints>
  /** Who sees whom in Domains whose nodes see only some others. */
  readonly visibilities: ReadonlyMap<string, Visibility>
}

type At = Pick<Template, 'seq' | 'occurredAt'>

/** Makes one hint per due lane that has changes, ordered by node id. */
export function hintsOf(due: readonly DueLane[], { recent, visibilities }: HintSources, at: At): readonly Hint[] {
  const byDomain = grouped(due, ({ domainId }) => domainId)
  const hints = Array.from(byDomain, ([domainId, lanes]) => {
    const changes = changesOf(recent.get(domainId))
    const visibility = visibilities.get(domainId)
    return visibility === undefined ? hintsAlike(lanes, changes, at) : hintsByViewer(lanes, { changes, visibility, at })
  }).flat()
  return hints.toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1))
}

/** The changes of a Domain's peers that some lanes may receive. */
interface Changes {
  /** Oldest first. */
  readonly hints: readonly PeerHint[]
  /** A lane that is behind this outbox row is to pull: older changes are not among the hints. */
  readonly cutAt: bigint | undefined
}

function changesOf(recent: RecentHints | undefined): Changes {
  const { hints, isCut } = recent ?? { hints: [], isCut: false }
  return { hints, cutAt: isCut ? hints[0]?.seq : undefined }
}

/** The lanes of nodes that see the same others share their changes. */
function hintsByViewer(
  lanes: readonly DueLane[],
  { changes, visibility, at }: { readonly changes: Changes; readonly visibility: Visibility; readonly at: At },
): readonly Hint[] {
  const placed = placeHints(changes.hints, visibility)
  const places = new Map(lanes.map(({ nodeId }) => [nodeId, placeIn(visibility.world, nodeId)]))
  const placeOf = ({ nodeId }: DueLane): number => places.get(nodeId) ?? -1
  const alike = grouped(lanes, (lane) => (placeOf(lane) < 0 ? '' : viewerKey(visibility, placeOf(lane))))
  return Array.from(alike, ([key, lanesAlike]) => {
    const [first] = lanesAlike
    const isGone = key === '' || first === undefined
    const hints = isGone ? [] : visibleHints(placed, visibility, placeOf(first))
    return hintsAlike(lanesAlike, { ...changes, hints }, at)
  }).flat()
}

/** In place of the outbox row after which changes are due: all of the peers may have changed. */
const ALL = -1n

/** Lanes that are due since the same outbox row share one payload, unless it contains the node's own changes. */
function hintsAlike(lanes: readonly DueLane[], { hints, cutAt }: Changes, at: At): readonly Hint[] {
  const merger = createChangeMerger(hints, PEERS_INLINE_MAX + 1)
  const pointOf = ({ isResync, afterSeq }: DueLane): bigint => (isResync ? ALL : (afterSeq ?? at.seq))
  const points = Array.from(grouped(lanes, pointOf)).toSorted(([a], [b]) => (a > b ? -1 : 1))
  return points.flatMap(([point, lanesAt]) => {
    const isUnlisted = point === ALL || (cutAt !== undefined && point < cutAt)
    const peers = isUnlisted ? undefined : merger.since(point)
    const changes = point === ALL ? 1 : hints.filter(({ seq }) => seq > point).length
    const shared = templateOf(hintPayload('', { peers, ownBlocks: [] }), at)
    return lanesAt.flatMap(({ nodeId, ownBlocks, ownChanges }) => {
      const isShared = ownBlocks.length === 0 && peers?.peers.has(nodeId) !== true
      const template = isShared ? shared : templateOf(hintPayload(nodeId, { peers, ownBlocks }), at)
      return template === undefined ? [] : [{ nodeId, template, changes: changes + ownChanges }]
    })
  })
}

function templateOf(payload: string | undefined, at: At): Template | undefined {
  return payload === undefined ? undefined : { ...at, type: 'node_state_updated', before: payload, after: undefined }
}

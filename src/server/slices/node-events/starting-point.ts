import type { EventBus, StreamBounds } from '../../ports/event-bus.ts'
import type { Position, StreamedNode } from './resync.ts'

/** The progress of a reader. */
export interface Progress {
  readonly node: StreamedNode
  /** The last position that it was sent, or that it wants to resume from. */
  readonly seq: bigint
  /** The last `node_seq` that it was sent; undefined where that is not known. */
  readonly nodeSeq: bigint | undefined
  /** Whether the reader claimed the position. */
  readonly isClaimed: boolean
}

/** From where a stream resumes. */
export interface StartingPoint {
  /** Events are lost: the reader is notified, with this position. */
  readonly lostAt: Position | undefined
  /** The facts about the reader's position. */
  readonly nodeSeq: bigint | undefined
  /** The node's last event that is kept; everything up to it is to be replayed. */
  readonly upTo: bigint
}

/** The result of comparing a position with the bounds: `undecided` where no event is kept that decides it. */
type Verdict =
  | { readonly kind: 'whole'; readonly nodeSeq: bigint | undefined }
  | { readonly kind: 'lost'; readonly at: Position }
  | { readonly kind: 'undecided' }

/** Whether all events after a position are kept. */
export function compareWithBounds({ seq, nodeSeq }: Pick<Progress, 'seq' | 'nodeSeq'>, bounds: StreamBounds): Verdict {
  const { head, oldest, newest } = bounds
  if (oldest === undefined || newest === undefined) return { kind: 'undecided' }
  if (seq > head) return { kind: 'lost', at: { seq: head, nodeSeq: newest.nodeSeq } }
  if (seq >= newest.seq) return { kind: 'whole', nodeSeq: newest.nodeSeq }
  const hasHole = nodeSeq === undefined ? seq + 1n < oldest.seq && oldest.nodeSeq > 1n : oldest.nodeSeq > nodeSeq + 1n
  if (!hasHole) return { kind: 'whole', nodeSeq }
  return { kind: 'lost', at: { seq: oldest.seq - 1n, nodeSeq: oldest.nodeSeq - 1n } }
}

export interface StartingPointDeps {
  readonly bus: Pick<EventBus, 'bounds'>
  /** The `node_seq` up to which the node's events were given to the bus. */
  readonly publishedUpTo: (nodeId: string) => Promise<bigint>
}

/** Finds the position from which a stream resumes. @throws EventBusUnavailable, and what reading the datastore throws. */
export async function findStartingPoint(deps: StartingPointDeps, progress: Progress): Promise<StartingPoint> {
  const { nodeId } = progress.node
  const bounds = await deps.bus.bounds(nodeId)
  const verdict = compareWithBounds(progress, bounds)
  if (verdict.kind !== 'undecided') return pointOf(verdict, bounds)
  if (progress.seq === bounds.head) return { lostAt: undefined, nodeSeq: progress.nodeSeq, upTo: bounds.head }
  // Asked before the bounds are read again: what is published in between is kept then.
  const published = await deps.publishedUpTo(nodeId)
  const later = await deps.bus.bounds(nodeId)
  const second = compareWithBounds(progress, later)
  if (second.kind !== 'undecided') return pointOf(second, later)
  const at = { seq: later.head, nodeSeq: published }
  // Where nothing is lost, the stream resumes at the reader's position: newer events may wait for it.
  if (!isLost(progress, at)) return { lostAt: undefined, nodeSeq: progress.nodeSeq, upTo: later.head }
  return { lostAt: at, nodeSeq: published, upTo: later.head }
}

/** No event of the node is kept: only the number of events sent to it shows whether the reader has received all. */
function isLost({ seq, nodeSeq, isClaimed }: Progress, { seq: head, nodeSeq: published }: Position): boolean {
  if (seq > head) return true
  return nodeSeq === undefined ? isClaimed && published > 0n : nodeSeq < published
}

function pointOf(verdict: Exclude<Verdict, { kind: 'undecided' }>, { head, newest }: StreamBounds): StartingPoint {
  const upTo = newest?.seq ?? head
  return verdict.kind === 'lost'
    ? { lostAt: verdict.at, nodeSeq: verdict.at.nodeSeq, upTo }
    : { lostAt: undefined, nodeSeq: verdict.nodeSeq, upTo }
}

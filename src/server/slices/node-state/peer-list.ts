/** The peers of a Domain at one revision, rendered once and shared by all answers. */
export interface PeerList {
  readonly revision: number
  /** Ascending. */
  readonly ids: readonly string[]
  /** The JSON of all peers, by id, separated by commas. */
  readonly joined: Uint8Array
  /** The offset of each peer's JSON, and at the end the offset at which a further one would begin. */
  readonly starts: Uint32Array
}

/** A peer's JSON. */
export interface Segment {
  readonly nodeId: string
  readonly bytes: Uint8Array
}

const COMMA = 0x2c

/** The list of a Domain without nodes, before its first revision. */
export const NO_PEERS: PeerList = { revision: -1, ids: [], joined: new Uint8Array(), starts: Uint32Array.of(0) }

/**
 * Merges segments, by ascending id, into a list, replacing those of the same nodes. Unchanged parts are
 * copied in runs: a few changes among many peers cost little more than the copy.
 */
export function withSegments(list: PeerList, changed: readonly Segment[], revision: number): PeerList {
  if (changed.length === 0) return { ...list, revision }
  const join = createJoin(list, changed)
  let kept = 0
  for (const segment of changed) {
    const at = placeOf(list.ids, segment.nodeId)
    join.run(kept, at)
    join.segment(segment)
    kept = list.ids[at] === segment.nodeId ? at + 1 : at
  }
  join.run(kept, list.ids.length)
  return join.end(revision)
}

/** What goes between the brackets of the addressed node's `peers`: all of the list but that node itself. */
export function peersBut({ ids, joined, starts }: PeerList, nodeId: string): readonly Uint8Array[] {
  if (ids.length === 0) return []
  const at = placeOf(ids, nodeId)
  const all = joined.subarray(0, joined.length - 1)
  if (ids[at] !== nodeId) return [all]
  // The comma behind it goes with it; behind the last one, the comma before it.
  const isLast = at === ids.length - 1
  const before = joined.subarray(0, Math.max(0, startOf(starts, at) - (isLast ? 1 : 0)))
  return [before, all.subarray(startOf(starts, at + 1))].filter(({ length }) => length > 0)
}

/** Memory that a list holds, in bytes, roughly. */
export function bytesOf({ ids, joined, starts }: PeerList): number {
  return joined.byteLength + starts.byteLength + ids.length * 64
}

/** The index of the id, or its insertion point. */
function placeOf(ids: readonly string[], id: string): number {
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ids[middle] ?? '') < id) low = middle + 1
    else high = middle
  }
  return low
}

function startOf(starts: Uint32Array, at: number): number {
  return starts[at] ?? 0
}

/** Builds a list out of runs of another one and of segments. Each peer is followed by a comma, the last one too. */
function createJoin(from: PeerList, changed: readonly Segment[]) {
  const room = changed.reduce((sum, { bytes }) => sum + bytes.length + 1, from.joined.length)
  const joined = Buffer.allocUnsafeSlow(room)
  const starts = new Uint32Array(from.ids.length + changed.length + 1)
  const ids: string[] = []
  let end = 0

  return {
    run(first: number, last: number): void {
      if (first === last) return
      const [start, stop] = [startOf(from.starts, first), startOf(from.starts, last)]
      joined.set(from.joined.subarray(start, stop), end)
      for (let at = first; at < last; at++) {
        starts[ids.length] = startOf(from.starts, at) - start + end
        ids.push(from.ids[at] ?? '')
      }
      end += stop - start
    },
    segment({ nodeId, bytes }: Segment): void {
      starts[ids.length] = end
      ids.push(nodeId)
      joined.set(bytes, end)
      joined[end + bytes.length] = COMMA
      end += bytes.length + 1
    },
    end(revision: number): PeerList {
      starts[ids.length] = end
      return { revision, ids, joined: joined.subarray(0, end), starts: starts.subarray(0, ids.length + 1) }
    },
  }
}

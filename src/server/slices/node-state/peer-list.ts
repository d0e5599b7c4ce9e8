import { createHash } from 'node:crypto'
import { insertionIndex } from '../../../shared/sorted-ids.ts'
import type { Runs, Visibility } from '../../policies/visibility.ts'
import type { PeersVersion } from './etag.ts'

/** The peers of a Domain at one revision, rendered once and shared by all answers. */
export interface PeerList {
  readonly revision: number
  /** Ascending. */
  readonly ids: readonly string[]
  /** The JSON of all peers, by id, separated by commas. */
  readonly joined: Uint8Array
  /** The offset of each peer's JSON, and at the end the offset at which a further one would begin. */
  readonly starts: Uint32Array
  /** A hash of each peer's JSON, 16 bytes each; empty where all nodes see all others. */
  readonly hashes: Uint8Array
  /** Who sees whom; undefined where all nodes see all others. */
  readonly visibility: Visibility | undefined
}

/** A peer's JSON. */
export interface Segment {
  readonly nodeId: string
  readonly bytes: Uint8Array
  /** Only where not all nodes see all others. */
  readonly hash?: Uint8Array
}

/** A segment with the hash of its bytes, SHA-256 cut to 16 bytes. */
export function hashed(segment: Segment): Segment {
  const hash = createHash('sha256').update(segment.bytes).digest().subarray(0, HASH_BYTES)
  return { ...segment, hash }
}

const HASH_BYTES = 16

const COMMA = 0x2c

/** The list of a Domain without nodes, before its first revision. */
export const NO_PEERS: PeerList = {
  revision: -1,
  ids: [],
  joined: new Uint8Array(),
  starts: Uint32Array.of(0),
  hashes: new Uint8Array(),
  visibility: undefined,
}

/**
 * Merges segments, by ascending id, into a list, replacing those of the same nodes. Unchanged parts are
 * copied in runs: a few changes among many peers cost little more than the copy.
 */
export function withSegments(list: PeerList, changed: readonly Segment[], revision: number): PeerList {
  if (changed.length === 0) return { ...list, revision }
  const join = createJoin(list, changed)
  let kept = 0
  for (const segment of changed) {
    const at = insertionIndex(list.ids, segment.nodeId)
    join.run(kept, at)
    join.segment(segment)
    kept = list.ids[at] === segment.nodeId ? at + 1 : at
  }
  join.run(kept, list.ids.length)
  return join.end(revision)
}

/** What goes between the brackets of the addressed node's `peers`: those of the list that it sees. */
export function peersOf(list: PeerList, nodeId: string): readonly Uint8Array[] {
  return list.visibility === undefined ? peersBut(list, nodeId) : seenPeers(list, list.visibility, nodeId)
}

/** The version of what `peersOf` gives: it is equal on every replica, and another one where the bytes are others. */
export function versionOf(list: PeerList, nodeId: string): PeersVersion {
  const { visibility, hashes } = list
  if (visibility === undefined) return list.revision
  const digest = createHash('sha256')
  const seen = seenRuns(list, visibility, nodeId)
  for (let at = 0; at < seen.length; at += 2) {
    digest.update(hashes.subarray((seen[at] ?? 0) * HASH_BYTES, (seen[at + 1] ?? 0) * HASH_BYTES))
  }
  return digest.digest('base64url')
}

function seenRuns({ ids }: PeerList, visibility: Visibility, nodeId: string): Runs {
  const place = insertionIndex(ids, nodeId)
  return ids[place] === nodeId ? visibility.seenBy(place) : []
}

/** One piece: the socket takes one large write sooner than many small ones. */
function seenPeers(list: PeerList, visibility: Visibility, nodeId: string): readonly Uint8Array[] {
  const { joined, starts } = list
  const seen = seenRuns(list, visibility, nodeId)
  const pieces: Uint8Array[] = []
  for (let at = 0; at < seen.length; at += 2) {
    pieces.push(joined.subarray(startOf(starts, seen[at] ?? 0), startOf(starts, seen[at + 1] ?? 0)))
  }
  if (pieces.length === 0) return []
  const all = Buffer.concat(pieces)
  // The comma behind the last one.
  return [all.subarray(0, all.length - 1)]
}

/** All of the list but the node itself. */
function peersBut({ ids, joined, starts }: PeerList, nodeId: string): readonly Uint8Array[] {
  if (ids.length === 0) return []
  const at = insertionIndex(ids, nodeId)
  const all = joined.subarray(0, joined.length - 1)
  if (ids[at] !== nodeId) return [all]
  // The comma behind it goes with it; behind the last one, the comma before it.
  const isLast = at === ids.length - 1
  const before = joined.subarray(0, Math.max(0, startOf(starts, at) - (isLast ? 1 : 0)))
  return [before, all.subarray(startOf(starts, at + 1))].filter(({ length }) => length > 0)
}

/** Memory that a list holds, in bytes, roughly. */
export function bytesOf({ ids, joined, starts, hashes, visibility }: PeerList): number {
  const classes = visibility?.world.classes.size ?? 0
  // The answers about each pair of classes are the largest part of what decides who sees whom.
  return joined.byteLength + starts.byteLength + hashes.byteLength + ids.length * 64 + classes * classes
}

function startOf(starts: Uint32Array, at: number): number {
  return starts[at] ?? 0
}

/** Builds a list out of runs of another one and of segments. Each peer is followed by a comma, the last one too. */
function createJoin(from: PeerList, changed: readonly Segment[]) {
  const room = changed.reduce((sum, { bytes }) => sum + bytes.length + 1, from.joined.length)
  const joined = Buffer.allocUnsafeSlow(room)
  const isHashed = changed[0]?.hash !== undefined
  const hashes = new Uint8Array(isHashed ? (from.ids.length + changed.length) * HASH_BYTES : 0)
  const starts = new Uint32Array(from.ids.length + changed.length + 1)
  const ids: string[] = []
  let end = 0

  return {
    run(first: number, last: number): void {
      if (first === last) return
      const [start, stop] = [startOf(from.starts, first), startOf(from.starts, last)]
      joined.set(from.joined.subarray(start, stop), end)
      if (isHashed) hashes.set(from.hashes.subarray(first * HASH_BYTES, last * HASH_BYTES), ids.length * HASH_BYTES)
      for (let at = first; at < last; at++) {
        starts[ids.length] = startOf(from.starts, at) - start + end
        ids.push(from.ids[at] ?? '')
      }
      end += stop - start
    },
    segment({ nodeId, bytes, hash }: Segment): void {
      starts[ids.length] = end
      if (hash !== undefined) hashes.set(hash, ids.length * HASH_BYTES)
      ids.push(nodeId)
      joined.set(bytes, end)
      joined[end + bytes.length] = COMMA
      end += bytes.length + 1
    },
    end(revision: number): PeerList {
      starts[ids.length] = end
      return {
        revision,
        ids,
        joined: joined.subarray(0, end),
        starts: starts.subarray(0, ids.length + 1),
        hashes: hashes.subarray(0, isHashed ? ids.length * HASH_BYTES : 0),
        visibility: from.visibility,
      }
    },
  }
}

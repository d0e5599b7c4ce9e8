import { formatEdgeEpoch } from './edge-epoch.ts'
import { createEpochDigest } from './epoch-digest.ts'

/** A node and the instant of its preshared key, as `formatPskIssuedAt` writes it. */
export interface Issued {
  readonly id: string
  readonly issued: string
}

/** The input of a node's digest, in order. */
export interface LinesOfNode {
  /** Lines. */
  readonly count: number
  /** Views of the lines, valid until the next call. */
  readonly runs: readonly Uint8Array[]
}

/**
 * The lines that the nodes of one Domain digest (`createEpochDigest`), rendered once for all of them. Those of two nodes
 * differ in the node's own half, in the line that each lacks and in a few peers of which they know different
 * instants; all lines have one width. Patching them is a tenth of the work of rendering ten thousand lines.
 */
export interface EpochLines {
  /** Replaces the instant of a peer, given by its index in id order. Throws RangeError where it is of another width. */
  set(place: number, issued: string): void
  /**
   * The lines of the node with that own half, without the peers at the given indexes, which ascend. Throws
   * RangeError where the half is of another width.
   */
  of(own: string, lacking: readonly number[]): LinesOfNode
}

/** Writes the lines of those peers, by id. Throws RangeError where they are not by id, or not of one width. */
export function createEpochLines(peers: readonly Issued[]): EpochLines {
  const [{ id: firstId, issued: standIn } = { id: '', issued: '' }] = peers
  const lines = writtenOf(peers, standIn)
  const width = peers.length === 0 ? 0 : lines.length / peers.length
  const ownAt = firstId.length + 1
  const peerAt = width - 1 - standIn.length

  function put(text: string, at: number): void {
    if (text.length !== standIn.length) throw new RangeError(`"${text}" is not of the width of "${standIn}"`)
    for (let index = 0; index < text.length; index += 1) lines[at + index] = text.charCodeAt(index)
  }

  return {
    set: (place, issued) => put(issued, place * width + peerAt),
    of(own, lacking) {
      if (peers.length === 0) return { count: 0, runs: [] }
      put(own, ownAt)
      const half = lines.slice(ownAt, ownAt + own.length)
      for (let at = ownAt + width; at < lines.length; at += width) lines.set(half, at)
      const runs: Uint8Array[] = []
      let from = 0
      for (const place of [...lacking, peers.length]) {
        if (place > from) runs.push(lines.subarray(from * width, place * width))
        from = place + 1
      }
      return { count: peers.length - lacking.length, runs }
    },
  }
}

/** The lines of a node with an edge to all peers, with that instant as its own half. */
function writtenOf(peers: readonly Issued[], own: string): Uint8Array {
  let text = ''
  const digest = createEpochDigest({ update: (line) => void (text += line), hex: () => '' })
  for (const { id, issued } of peers) {
    if (issued.length !== own.length) throw new RangeError(`"${issued}" is not of the width of "${own}"`)
    digest.add(id, formatEdgeEpoch({ own, peer: issued }))
  }
  return new TextEncoder().encode(text)
}

import { createHash } from 'node:crypto'
import { formatEdgeEpoch } from '../../shared/mesh/edge-epoch.ts'
import { createEpochDigest, type EpochReport } from '../../shared/mesh/epoch-digest.ts'

/** A node and the instant of its preshared key, as `formatPskIssuedAt` writes it. */
export interface Issued {
  readonly id: string
  readonly issued: string
}

/**
 * Tells what nodes of a Domain report once they have the stored keys of all their edges in force. `all` are its nodes by
 * id. The lines of two nodes differ in nothing but the half that is their own and the line that each lacks, and are of
 * one width: they are written once, and for each node only that half is put in. A quarter of the work at 10,000 nodes.
 */
export function createExpectation(all: readonly Issued[]): (node: Issued) => EpochReport {
  const [{ issued: standIn } = { issued: '' }] = all
  const lines = linesOf(all, standIn)
  const width = lines.length / all.length
  const ownAt = lines.indexOf(Buffer.from(formatEdgeEpoch({ own: standIn, peer: '' })))
  const places = new Map(all.map(({ id }, at) => [id, at * width]))
  return ({ id, issued }) => {
    const own = Buffer.from(issued)
    for (let at = ownAt; at < lines.length; at += width) lines.set(own, at)
    const lacking = places.get(id) ?? 0
    const hash = createHash('sha256')
      .update(lines.subarray(0, lacking))
      .update(lines.subarray(lacking + width))
    return { count: all.length - 1, sha256: hash.digest('hex') }
  }
}

/** The lines as every agent digests them, of a node that had an edge to all, with that instant for its own half. */
function linesOf(all: readonly Issued[], own: string): Buffer {
  let text = ''
  const digest = createEpochDigest({ update: (line) => void (text += line), hex: () => '' })
  for (const peer of all) digest.add(peer.id, formatEdgeEpoch({ own, peer: peer.issued }))
  return Buffer.from(text)
}

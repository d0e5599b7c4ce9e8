import { createHash } from 'node:crypto'
import type { EpochReport } from '../../../shared/mesh/epoch-digest.ts'
import { createEpochLines, type Issued, type LinesOfNode } from '../../../shared/mesh/epoch-lines.ts'
import type { Visibility } from '../../policies/visibility.ts'
import { visibleAmong } from '../../policies/visible-ids.ts'

/**
 * Computes what nodes of a Domain report once they use the stored keys of all their edges. `all` are its nodes by
 * id.
 */
export function createExpectation(all: readonly Issued[]): (node: Issued) => EpochReport {
  const lines = createEpochLines(all)
  const places = new Map(all.map(({ id }, place) => [id, place]))
  return ({ id, issued }) => {
    const ofNode = lines.of(issued, [places.get(id) ?? 0])
    return { count: ofNode.count, sha256: digestOf(ofNode) }
  }
}

/** The report that is expected of a node. */
export interface Expected {
  readonly edges: number
  /** Computed only where it is called. */
  sha256(): string
}

/** Gives what is expected of a node of a Domain. */
export type ExpectationOf = (node: Issued) => Expected

/** `all` are the nodes of the Domain by id; a node has edges with those that it sees, with all where `visibility` is undefined. */
export function createExpectations(all: readonly Issued[], visibility: Visibility | undefined): ExpectationOf {
  if (visibility === undefined) {
    const expectation = createExpectation(all)
    const edges = Math.max(0, all.length - 1)
    return (node) => ({ edges, sha256: () => expectation(node).sha256 })
  }
  return (node) => {
    const seen = visibleAmong(all, ({ id }) => id, { visibility, nodeId: node.id })
    return { edges: seen.length, sha256: () => digestOf(createEpochLines(seen).of(node.issued, [])) }
  }
}

function digestOf({ runs }: LinesOfNode): string {
  const hash = createHash('sha256')
  for (const run of runs) hash.update(run)
  return hash.digest('hex')
}

import { createHash } from 'node:crypto'
import type { EpochReport } from '../../../shared/mesh/epoch-digest.ts'
import { createEpochLines, type Issued } from '../../../shared/mesh/epoch-lines.ts'

/**
 * Computes what nodes of a Domain report once they use the stored keys of all their edges. `all` are its nodes by
 * id.
 */
export function createExpectation(all: readonly Issued[]): (node: Issued) => EpochReport {
  const lines = createEpochLines(all)
  const places = new Map(all.map(({ id }, place) => [id, place]))
  return ({ id, issued }) => {
    const { count, runs } = lines.of(issued, [places.get(id) ?? 0])
    const hash = createHash('sha256')
    for (const run of runs) hash.update(run)
    return { count, sha256: hash.digest('hex') }
  }
}

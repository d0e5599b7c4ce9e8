import type { FuzzTuple } from './world.ts'
import { partsOf } from './world.ts'

/**
 * Whether objects of one type lead by a relation, of which the schema asks `.all()`, to the same subject, at least one of
 * them under a caveat. SpiceDB 1.54 (`checkIntersectionTupleToUserset`) adds to each object of such a batch the caveats of
 * all tuples to that subject, those of the other objects too.
 */
export function hasSharedAll(schema: string, tuples: readonly FuzzTuple[]): boolean {
  const relations = new Set([...schema.matchAll(/\b(\w+)\.all\(/g)].map(([, relation]) => relation))
  const followed = tuples.filter(({ relation }) => relations.has(relation))
  return followed.some((tuple) => tuple.caveat !== undefined && followed.some((other) => isShared(tuple, other)))
}

function isShared(tuple: FuzzTuple, other: FuzzTuple): boolean {
  const [type] = partsOf(tuple.resource)
  const isBeside = tuple.resource !== other.resource && partsOf(other.resource)[0] === type
  return isBeside && tuple.relation === other.relation && tuple.subject === other.subject
}

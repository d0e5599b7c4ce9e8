import type { Query } from './world.ts'

/** An answer of ours beside SpiceDB's. */
export interface Pair {
  readonly query: Query
  readonly ours: string
  readonly theirs: string
}

interface Exclusion {
  readonly name: string
  readonly reason: string
  /** By what SpiceDB answered, and the schema. */
  applies(pair: Pair, schema: string): boolean
  /** Whether ours must be what SpiceDB's own checks say where its lookup says something else. */
  readonly needsChecks: boolean
}

/** The comparisons that are left out. Each is counted and reported by its name. */
export const EXCLUSIONS: readonly Exclusion[] = [
  {
    name: 'depth',
    reason: 'SpiceDB gives up on rings of tuples with a depth error, where the engine finds the least fixpoint',
    applies: ({ theirs }) => /^error: .*max(imum)? depth/s.test(theirs),
    needsChecks: false,
  },
  {
    name: 'lookup-self-bug',
    reason: 'SpiceDB 1.54 fails with an error that calls itself a bug when it looks up resources by way of `self`',
    applies: ({ query, theirs }, schema) =>
      query.kind === 'resources' && hasSelf(schema) && theirs.startsWith('error: BUG: '),
    needsChecks: true,
  },
  {
    name: 'lookup-self-type',
    reason: 'SpiceDB 1.54 finds a resource with `self` among subjects of other types too, against its own checks',
    applies: ({ query }, schema) => query.kind === 'subjects' && hasSelf(schema),
    needsChecks: true,
  },
]

const hasSelf = (schema: string): boolean => /^use self$/m.test(schema) && /=.*\bself\b/.test(schema)

/** The exclusion that the pair, which disagrees, falls under, if any. */
export function exclusionOf(pair: Pair, schema: string): Exclusion | undefined {
  return EXCLUSIONS.find((exclusion) => exclusion.applies(pair, schema))
}

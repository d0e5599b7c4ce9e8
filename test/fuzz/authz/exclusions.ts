import { hasMiscounts } from './miscounts.ts'
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
  /** What must say the same as ours: SpiceDB's own checks, for a lookup, or its own lookup, for a check. */
  readonly witness: 'none' | 'checks' | 'lookup'
}

/** The comparisons that are left out. Each is counted and reported by its name. */
export const EXCLUSIONS: readonly Exclusion[] = [
  {
    name: 'depth',
    reason: 'SpiceDB gives up on rings of tuples with a depth error, where the engine finds the least fixpoint',
    applies: ({ theirs }) => /^error: .*max(imum)? depth/s.test(theirs),
    witness: 'none',
  },
  {
    name: 'caveat-fails',
    reason:
      'SpiceDB fails whole questions over a caveat that it meets on its way and cannot evaluate; which it meets is by chance',
    applies: ({ theirs }) => /^error: (type error for parameters for|evaluation error for) caveat /.test(theirs),
    witness: 'none',
  },
  {
    name: 'skipped-caveats',
    reason:
      'SpiceDB 1.54 counts usersets among the subjects without conditions that a relation takes, and so overlooks conditions',
    applies: (_, schema) => hasMiscounts(schema),
    witness: 'none',
  },
  {
    name: 'wildcard-userset',
    reason: 'SpiceDB 1.54 lets a wildcard stand for usersets in checks, and for objects alone in its lookups',
    applies: ({ query }, schema) => query.kind === 'check' && query.subject.includes('#') && schema.includes(':*'),
    witness: 'lookup',
  },
  {
    name: 'lookup-self-bug',
    reason: 'SpiceDB 1.54 fails with an error that calls itself a bug when it looks up resources by way of `self`',
    applies: ({ query, theirs }, schema) =>
      query.kind === 'resources' && hasSelf(schema) && theirs.startsWith('error: BUG: '),
    witness: 'checks',
  },
  {
    name: 'lookup-self-type',
    reason: 'SpiceDB 1.54 finds a resource with `self` among subjects of other types too, against its own checks',
    applies: ({ query }, schema) => query.kind === 'subjects' && hasSelf(schema),
    witness: 'checks',
  },
]

const hasSelf = (schema: string): boolean => /^use self$/m.test(schema) && /=.*\bself\b/.test(schema)

/** The exclusion that the pair, which disagrees, falls under, if any. */
export function exclusionOf(pair: Pair, schema: string): Exclusion | undefined {
  return EXCLUSIONS.find((exclusion) => exclusion.applies(pair, schema))
}

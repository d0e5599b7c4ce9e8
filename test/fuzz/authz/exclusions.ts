import { hasMiscounts } from './miscounts.ts'
import { hasSharedAll } from './shared-all.ts'
import type { FuzzTuple, Query } from './world.ts'

/** An answer of ours beside SpiceDB's. */
export interface Pair {
  readonly query: Query
  readonly ours: string
  readonly theirs: string
}

interface Asked {
  readonly schema: string
  readonly tuples: readonly FuzzTuple[]
}

interface Exclusion {
  readonly name: string
  readonly reason: string
  applies(pair: Pair, world: Asked): boolean
  /** What must say the same as ours: SpiceDB's own checks of everything that a lookup might find and on which they do not fail. */
  readonly witness: 'none' | 'checks'
}

/** SpiceDB's words where it cannot evaluate a caveat. */
export const CAVEAT_FAILS = /^error: (type error for parameters for|evaluation error for) caveat /

/** SpiceDB's words where it walks to the end of its depth. */
export const TOO_DEEP = /^error: .*max(imum)? depth/s

/** Applies where SpiceDB, asked the same again, answers as ours. */
export const UNSTEADY = {
  name: 'unsteady',
  reason: 'SpiceDB answered the same question over the same data in two ways, one of them ours',
}

/** The comparisons that are left out. Each is counted and reported by its name. */
export const EXCLUSIONS: readonly Exclusion[] = [
  {
    name: 'depth',
    reason: 'SpiceDB gives up on rings of tuples with a depth error, where the engine finds the least fixpoint',
    applies: ({ theirs }) => TOO_DEEP.test(theirs),
    witness: 'none',
  },
  {
    name: 'caveat-fails',
    reason:
      'SpiceDB fails whole questions over a caveat that it meets on its way and cannot evaluate; which it meets is by chance',
    applies: ({ theirs }) => CAVEAT_FAILS.test(theirs),
    witness: 'none',
  },
  {
    name: 'skipped-caveats',
    reason:
      'SpiceDB 1.54 counts usersets among the subjects without conditions that a relation takes, and so overlooks conditions',
    applies: (_, { schema }) => hasMiscounts(schema),
    witness: 'none',
  },
  {
    name: 'wildcard-userset',
    reason:
      'SpiceDB 1.54 lets a wildcard stand for usersets in checks, those that its lookups make on their way too, and for objects alone in lookups',
    applies: ({ query }, { tuples }) =>
      query.kind !== 'subjects' && query.subject.includes('#') && hasWildcard(tuples, query.subject),
    witness: 'none',
  },
  {
    name: 'shared-all',
    reason:
      'SpiceDB 1.54 asks of each object in a batch with `.all()` also the caveats by which the others reach the same subject: its checks, which its lookups of subjects would be held against, say so too',
    applies: ({ ours, theirs }, { schema, tuples }) =>
      ![ours, theirs].some((answer) => answer.startsWith('error: ')) && hasSharedAll(schema, tuples),
    witness: 'none',
  },
  {
    name: 'lookup-self-bug',
    reason:
      'SpiceDB 1.54 fails with an error that calls itself a bug when it looks up resources by way of `self`, or overlooks some that its checks grant',
    applies: ({ query }, { schema }) => query.kind === 'resources' && hasSelf(schema),
    witness: 'checks',
  },
  {
    name: 'lookup-same-sides',
    reason:
      'SpiceDB 1.54 looks resources up without those that have `a - a` under a condition, which its checks call conditional',
    applies: ({ query, ours, theirs }, { schema }) =>
      query.kind === 'resources' && SAME_SIDES.test(schema) && ours.includes('?') && !theirs.startsWith('error: '),
    witness: 'checks',
  },
  {
    name: 'lookup-first-way',
    reason: 'SpiceDB 1.54 may call a resource conditional that another way grants outright, as its checks say',
    applies: ({ query, ours, theirs }) =>
      query.kind === 'resources' && ours !== theirs && ours.replaceAll('?', '') === theirs.replaceAll('?', ''),
    witness: 'checks',
  },
  {
    name: 'lookup-all',
    reason:
      'SpiceDB 1.54 looks subjects up through `.all()` past objects that lack what it asks of each, on which its checks fail',
    applies: ({ query }, { schema }) => query.kind === 'subjects' && schema.includes('.all('),
    witness: 'checks',
  },
  {
    name: 'lookup-self-type',
    reason: 'SpiceDB 1.54 finds a resource with `self` among subjects of other types too, against its own checks',
    applies: ({ query }, { schema }) => query.kind === 'subjects' && hasSelf(schema),
    witness: 'checks',
  },
]

const hasWildcard = (tuples: readonly FuzzTuple[], subject: string): boolean =>
  tuples.some((tuple) => tuple.subject === `${subject.slice(0, subject.indexOf(':'))}:*`)

/** A permission that names something before and after a minus. */
const SAME_SIDES = /^ *permission \w+ = .*\b(\w+)\b.* - .*\b\1\b/m

const hasSelf = (schema: string): boolean => /^use self$/m.test(schema) && /=.*\bself\b/.test(schema)

/** The exclusion that the pair, which disagrees, falls under, if any. */
export function exclusionOf(pair: Pair, world: Asked): Exclusion | undefined {
  return EXCLUSIONS.find((exclusion) => exclusion.applies(pair, world))
}

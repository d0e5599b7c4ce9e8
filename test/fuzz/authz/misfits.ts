import type { Oracle } from '../../support/authz/spicedb-oracle.ts'
import { schemaText, type SchemaDraft } from './draft.ts'
import { openOurs } from './ours.ts'
import type { Random } from './random.ts'
import { columnsOf, partsOf, type FuzzTuple } from './world.ts'

/** Tuples of one world that are written although they may not fit. */
const MISFITS = 12

/** A tuple that one engine takes and the other refuses. */
export interface Misfit {
  readonly tuple: FuzzTuple
  /** Why SpiceDB refuses it; empty where it takes it, and our engine does not. */
  readonly theirs: string
}

/** Writes tuples with a part of another one to both engines. */
export async function tryMisfits(
  random: Random,
  { schema, tuples }: { readonly schema: SchemaDraft; readonly tuples: readonly FuzzTuple[] },
  oracle: Oracle,
): Promise<{ readonly tried: number; readonly misfits: readonly Misfit[] }> {
  if (tuples.length === 0) return { tried: 0, misfits: [] }
  const odd = Array.from({ length: MISFITS }, () => crossed(random, schema, tuples))
  const theirs = await oracle.attempt(schemaText(schema), odd.map(columnsOf))
  const misfits = odd
    .map((tuple, at) => ({ tuple, theirs: theirs[at] ?? '' }))
    .filter((each) => isRefused(schema, each.tuple) !== (each.theirs !== ''))
  return { tried: odd.length, misfits }
}

const isRefused = (schema: SchemaDraft, tuple: FuzzTuple): boolean =>
  openOurs(schemaText(schema), [tuple]).refused.length > 0

/** A tuple of the world with one of its parts changed. */
function crossed(random: Random, schema: SchemaDraft, tuples: readonly FuzzTuple[]): FuzzTuple {
  const tuple = random.pick(tuples)
  const other = random.pick(tuples)
  const { resource, relation, subject } = tuple
  const plain = { resource, relation, subject }
  const [type, id] = partsOf(tuple.subject)
  const caveat = random.pick(['when', 'where', 'how_much', 'unknown_caveat'])
  return random.pick<FuzzTuple>([
    { ...tuple, relation: other.relation },
    { ...tuple, subject: other.subject },
    { ...tuple, resource: other.resource },
    { ...tuple, relation: schema.definitions.flatMap(({ permissions }) => permissions)[0]?.name ?? 'nothing' },
    { ...tuple, subject: `${type}:*` },
    { ...tuple, subject: `${type}:${id}#${other.relation}` },
    { ...tuple, subject: `${type}:${id}` },
    plain,
    { ...plain, caveat },
    { ...plain, expires: 'future' },
    { ...plain, caveat, expires: 'future' },
  ])
}

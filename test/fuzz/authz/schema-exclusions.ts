import type { Oracle } from '../../support/authz/spicedb-oracle.ts'

/** A schema that one engine takes and the other refuses. */
export interface Verdicts {
  readonly text: string
  /** Why each refuses it; empty where it is taken. */
  readonly ours: string
  readonly theirs: string
}

/** In one order too SpiceDB judges now one way and now the other. */
const ROUNDS = 10

interface SchemaExclusion {
  readonly name: string
  readonly reason: string
  applies(verdicts: Verdicts, oracle: Oracle): Promise<boolean>
}

/** The schemas over which the engines may differ. Each is counted and reported by its name. */
export const SCHEMA_EXCLUSIONS: readonly SchemaExclusion[] = [
  {
    name: 'own-ring',
    reason:
      'SpiceDB 1.54 looks for permissions that depend on themselves among mere aliases alone; checks of the others fail, or not, by which part ends first',
    applies: async ({ ours, theirs }) =>
      theirs === '' && ours.includes('expected a permission that does not depend on itself'),
  },
  {
    name: 'order-of-definitions',
    reason:
      'SpiceDB 1.54 remembers whether a relation takes everyone by its name alone, and so judges the same definitions as ours in another order, or another time',
    applies: judgedOtherwise,
  },
]

/** Which of them the schema falls under, if any. */
export async function schemaExclusionOf(verdicts: Verdicts, oracle: Oracle): Promise<string | undefined> {
  for (const { name, applies } of SCHEMA_EXCLUSIONS) if (await applies(verdicts, oracle)) return name
  return undefined
}

/** Whether SpiceDB says the same as ours once one of the definitions stands first, sooner or later. */
async function judgedOtherwise({ text, ours, theirs }: Verdicts, oracle: Oracle): Promise<boolean> {
  if (!/wildcard/.test(`${ours}${theirs}`)) return false
  const orders = ordersOf(text)
  for (let round = 0; round < ROUNDS; round++) {
    const judged = await oracle.judge(orders)
    if (judged.some((refusal) => (refusal === '') === (ours === ''))) return true
  }
  return false
}

/** The text with each of its definitions first. */
function ordersOf(text: string): string[] {
  const pieces = text.split(/(?<=\n|^)(?=definition\b)/)
  const head = pieces.filter((piece) => !piece.startsWith('definition'))
  const definitions = pieces.filter((piece) => piece.startsWith('definition'))
  return definitions.map((first, at) => [...head, first, ...definitions.toSpliced(at, 1)].join('\n'))
}

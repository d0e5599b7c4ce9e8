import type { Oracle } from '../../support/authz/spicedb-oracle.ts'
import { mutateSchema } from './mutate-schema.ts'
import { judgeSchema } from './ours.ts'
import type { Random } from './random.ts'
import { schemaExclusionOf, type Verdicts } from './schema-exclusions.ts'

/** Schemas that are nearly right, a few of one world. */
const MUTANTS = 5

export interface Judgement {
  readonly judged: number
  /** Of them, those that SpiceDB takes. */
  readonly taken: number
  readonly misjudged: readonly Verdicts[]
  /** By the name of the exclusion. */
  readonly excluded: ReadonlyMap<string, number>
}

/** Judges mutants of a schema by both engines, and makes those that they judge otherwise as short as they get. */
export async function judgeMutants(random: Random, schema: string, oracle: Oracle): Promise<Judgement> {
  const texts = Array.from({ length: MUTANTS }, () => mutateSchema(random, schema))
  const theirs = await oracle.judge(texts)
  const misjudged: Verdicts[] = []
  const excluded = new Map<string, number>()
  for (const [at, text] of texts.entries()) {
    const verdicts = { text, ours: judgeSchema(text), theirs: theirs[at] ?? '' }
    if (!differ(verdicts)) continue
    const name = await schemaExclusionOf(verdicts, oracle)
    if (name === undefined) misjudged.push(await shortest(verdicts, oracle))
    else excluded.set(name, (excluded.get(name) ?? 0) + 1)
  }
  return { judged: texts.length, taken: theirs.filter((refusal) => refusal === '').length, misjudged, excluded }
}

const differ = ({ ours, theirs }: Verdicts): boolean => (ours === '') !== (theirs === '')

/** Drops lines for as long as the engines judge the rest otherwise, and for another reason than an exclusion. */
async function shortest(start: Verdicts, oracle: Oracle): Promise<Verdicts> {
  let smallest = start
  for (let at = 0; at < smallest.text.split('\n').length;) {
    const text = smallest.text.split('\n').toSpliced(at, 1).join('\n')
    const [theirs = ''] = await oracle.judge([text])
    const fewer = { text, ours: judgeSchema(text), theirs }
    if (differ(fewer) && (await schemaExclusionOf(fewer, oracle)) === undefined) smallest = fewer
    else at++
  }
  return smallest
}

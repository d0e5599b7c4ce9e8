import type { Oracle } from '../../support/spicedb-oracle.ts'
import { mutateSchema } from './mutate-schema.ts'
import { judgeSchema } from './ours.ts'
import type { Random } from './random.ts'

/** Schemas that are nearly right, a few of one world. */
const MUTANTS = 5

/** A text that one engine takes and the other refuses. */
export interface Misjudged {
  readonly text: string
  /** Why each refuses it; empty where it is taken. */
  readonly ours: string
  readonly theirs: string
}

export interface Judgement {
  readonly judged: number
  /** Of them, those that SpiceDB takes. */
  readonly taken: number
  readonly misjudged: readonly Misjudged[]
}

/** Judges mutants of a schema by both engines, and makes those that they judge otherwise as short as they get. */
export async function judgeMutants(random: Random, schema: string, oracle: Oracle): Promise<Judgement> {
  const texts = Array.from({ length: MUTANTS }, () => mutateSchema(random, schema))
  const theirs = await oracle.judge(texts)
  const misjudged: Misjudged[] = []
  for (const [at, text] of texts.entries()) {
    if (differs(text, theirs[at] ?? '')) misjudged.push(await shortest(text, oracle))
  }
  return { judged: texts.length, taken: theirs.filter((refusal) => refusal === '').length, misjudged }
}

const differs = (text: string, theirs: string): boolean => (judgeSchema(text) === '') !== (theirs === '')

/** Drops lines for as long as the engines judge the rest otherwise. */
async function shortest(text: string, oracle: Oracle): Promise<Misjudged> {
  let lines = text.split('\n')
  for (let at = 0; at < lines.length;) {
    const fewer = lines.toSpliced(at, 1)
    const [theirs = ''] = await oracle.judge([fewer.join('\n')])
    if (differs(fewer.join('\n'), theirs)) lines = fewer
    else at++
  }
  const left = lines.join('\n')
  const [theirs = ''] = await oracle.judge([left])
  return { text: left, ours: judgeSchema(left), theirs }
}

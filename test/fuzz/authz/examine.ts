import { RunawayError, type Oracle, type OracleAnswers } from '../../support/authz/spicedb-oracle.ts'
import { oracleTexts } from './answers.ts'
import { isWitnessed } from './witness.ts'
import { UNSTEADY, exclusionOf, type Pair } from './exclusions.ts'
import { judgeSchema, openOurs } from './ours.ts'
import { schemaExclusionOf } from './schema-exclusions.ts'
import { columnsOf, objectOf, partsOf, subjectOf, type FuzzTuple, type Query } from './world.ts'

const ASKED_AGAIN = 3

/** What both engines are asked. */
export interface Trial {
  readonly schema: string
  readonly tuples: readonly FuzzTuple[]
  readonly queries: readonly Query[]
}

/** What came of a trial. */
export interface Examination {
  /** `refused`: schema or tuples are refused, by both engines but for an exclusion, so that nothing was asked. */
  readonly outcome: 'asked' | 'refused' | 'disagreed'
  /** How the engines differ over the schema or the tuples themselves. */
  readonly dispute?: { readonly over: 'schema' | 'tuples'; readonly ours: string; readonly theirs: string }
  /** All answers, in the order of the queries. */
  readonly pairs: readonly Pair[]
  readonly disagreements: readonly Pair[]
  /** By the name of the exclusion. */
  readonly excluded: ReadonlyMap<string, number>
}

/** Asks both engines and compares. @throws RunawayError, and the oracle is of no use any more. */
export async function examine(trial: Trial, oracle: Oracle): Promise<Examination> {
  const theirs = oracle.askAll(oracleQuestion(trial)).then(
    (answers) => ({ answers }),
    (error: unknown) => {
      if (error instanceof RunawayError) throw error
      return { refusal: error instanceof Error ? error.message : String(error) }
    },
  )
  const ourRefusal = refusalOf(trial)
  if (ourRefusal !== '') return settled(trial, disputed(ourRefusal, await theirs), oracle)
  const ours = openOurs(trial.schema, trial.tuples)
  const answered = trial.queries.map((query) => ours.answer(query))
  const reply = await theirs
  if ('refusal' in reply) return settled(trial, disputed('', reply), oracle)
  return compared(trial, pairsOf(trial, answered, reply.answers), oracle)
}

function refusalOf({ schema, tuples }: Trial): string {
  const refusal = judgeSchema(schema)
  if (refusal !== '') return `schema: ${refusal}`
  const { refused } = openOurs(schema, tuples)
  return refused.length === 0 ? '' : `tuples: ${JSON.stringify(refused)}`
}

function disputed(ours: string, reply: { answers: OracleAnswers } | { refusal: string }): Examination {
  const theirs = 'refusal' in reply ? reply.refusal : ''
  const nothing = { pairs: [], disagreements: [], excluded: new Map<string, number>() }
  if (ours !== '' && theirs !== '') return { outcome: 'refused', ...nothing }
  const over = /^(schema|Failed to bootstrap):/.test(ours || theirs) ? 'schema' : 'tuples'
  return { outcome: 'disagreed', dispute: { over, ours: ours || 'taken', theirs: theirs || 'taken' }, ...nothing }
}

/** A dispute over a schema that falls under an exclusion is none. */
async function settled({ schema }: Trial, examination: Examination, oracle: Oracle): Promise<Examination> {
  const { dispute } = examination
  if (dispute?.over !== 'schema') return examination
  const refusalIn = (words: string): string => (words === 'taken' ? '' : words)
  const verdicts = { text: schema, ours: refusalIn(dispute.ours), theirs: refusalIn(dispute.theirs) }
  const name = await schemaExclusionOf(verdicts, oracle)
  if (name === undefined) return examination
  return { outcome: 'refused', pairs: [], disagreements: [], excluded: new Map([[name, 1]]) }
}

function pairsOf({ queries }: Trial, ours: readonly string[], reply: OracleAnswers): Pair[] {
  const texts = oracleTexts(reply)
  const next = { check: 0, resources: 0, subjects: 0 }
  return queries.map((query, at) => {
    return { query, ours: ours[at] ?? '', theirs: texts[query.kind][next[query.kind]++] ?? '' }
  })
}

async function compared(trial: Trial, pairs: readonly Pair[], oracle: Oracle): Promise<Examination> {
  const excluded = new Map<string, number>()
  const disagreements: Pair[] = []
  for (const pair of pairs.filter(({ ours, theirs }) => ours !== theirs)) {
    const name = (await exclusionFor(pair, trial, oracle)) ?? (await unsteady(pair, trial, oracle))
    if (name === undefined) disagreements.push(pair)
    else excluded.set(name, (excluded.get(name) ?? 0) + 1)
  }
  return { outcome: disagreements.length === 0 ? 'asked' : 'disagreed', pairs, disagreements, excluded }
}

async function exclusionFor(pair: Pair, { schema, tuples }: Trial, oracle: Oracle): Promise<string | undefined> {
  const exclusion = exclusionOf(pair, { schema, tuples })
  if (exclusion === undefined || exclusion.witness === 'none' || pair.query.kind === 'check') return exclusion?.name
  const isConfirmed = await isWitnessed({ schema, tuples, oracle }, pair.query, pair.ours)
  return isConfirmed ? exclusion.name : undefined
}

/** Asks SpiceDB again, a few times: an answer that comes and goes is none. */
async function unsteady(pair: Pair, trial: Trial, oracle: Oracle): Promise<string | undefined> {
  for (let asked = 0; asked < ASKED_AGAIN; asked++) {
    const texts = oracleTexts(await oracle.askAll(oracleQuestion({ ...trial, queries: [pair.query] })))
    if (texts[pair.query.kind][0] === pair.ours) return UNSTEADY.name
  }
  return undefined
}

function oracleQuestion({ schema, tuples, queries }: Trial) {
  return {
    schema,
    tuples: tuples.map(columnsOf),
    checks: queries.flatMap((query) => (query.kind === 'check' ? [checkOf(query)] : [])),
    resources: queries.flatMap((query) => (query.kind === 'resources' ? [resourcesOf(query)] : [])),
    subjects: queries.flatMap((query) => (query.kind === 'subjects' ? [subjectsOf(query)] : [])),
  }
}

type QueryOf<Kind> = Extract<Query, { kind: Kind }>

const checkOf = ({ resource, permission, subject, context = {} }: QueryOf<'check'>) => ({
  resource: objectOf(resource),
  permission,
  subject: subjectOf(subject),
  context,
})

const resourcesOf = ({ type, permission, subject, context = {} }: QueryOf<'resources'>) => ({
  type,
  permission,
  subject: subjectOf(subject),
  context,
})

function subjectsOf({ resource, permission, subjects, context = {} }: QueryOf<'subjects'>) {
  const [type, , relation] = partsOf(subjects.replace(/#|$/, ':$&'))
  const wanted = relation === '' ? ([type] as const) : ([type, relation] as const)
  return { resource: objectOf(resource), permission, subjects: wanted, context }
}

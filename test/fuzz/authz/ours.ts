import { conditionVerdict } from '../../../src/shared/authz/caveats/condition-verdict.ts'
import { Checker } from '../../../src/shared/authz/engine/checker.ts'
import type { ConditionVerdict } from '../../../src/shared/authz/engine/question.ts'
import { UndecidableError } from '../../../src/shared/authz/engine/undecidable.ts'
import { createLookups, type FoundSubjects, type Lookups } from '../../../src/shared/authz/engine/lookup/lookups.ts'
import { resolveSetQuestion } from '../../../src/shared/authz/engine/resolve-question.ts'
import { TupleIndex } from '../../../src/shared/authz/engine/tuple-index.ts'
import { NO, UNKNOWN, VIOLATED, YES } from '../../../src/shared/authz/engine/verdict.ts'
import { compileSchema } from '../../../src/shared/authz/language/compile.ts'
import { parseSchema } from '../../../src/shared/authz/language/parser.ts'
import { SchemaError } from '../../../src/shared/authz/language/schema-error.ts'
import type { Model } from '../../../src/shared/authz/model.ts'
import { resourcesText, subjectsText } from './answers.ts'
import { columnsOf, type FuzzTuple, type Query } from './world.ts'

/** Why our parser or compiler refuses the schema; empty where it is taken. */
export function judgeSchema(text: string): string {
  try {
    compileSchema(parseSchema(text))
    return ''
  } catch (error) {
    if (error instanceof SchemaError) return error.message
    throw error
  }
}

/** Our engine over a fresh index. */
export interface Ours {
  /** Tuples that the schema does not allow. */
  readonly refused: readonly FuzzTuple[]
  /** Answers in the words of `answers.ts`. */
  answer(query: Query): string
}

/** @throws SchemaError */
export function openOurs(schema: string, tuples: readonly FuzzTuple[]): Ours {
  const model = compileSchema(parseSchema(schema))
  const index = new TupleIndex(model)
  const refused = tuples.filter((tuple, at) => index.touch(columnsOf(tuple), at) === 'unknown')
  const checker = new Checker(index)
  const engine = { model, index, checker, lookups: createLookups({ model, index, checker }) }
  return { refused, answer: (query) => guarded(() => answerOf(engine, query)) }
}

interface Engine {
  readonly model: Model
  readonly index: TupleIndex
  readonly checker: Checker
  readonly lookups: Lookups
}

function guarded(answer: () => string): string {
  try {
    return answer()
  } catch (error) {
    if (error instanceof UndecidableError) return `error: ${error.message}`
    throw error
  }
}

function answerOf(engine: Engine, query: Query): string {
  const holds = conditionVerdict({ nowMs: Date.now(), context: query.context ?? {} })
  if (query.kind === 'check') return checkText(engine, query, holds)
  if (query.kind === 'resources') return foundResources(engine, query, holds)
  return foundSubjects(engine, query, holds)
}

type QueryOf<Kind> = Extract<Query, { kind: Kind }>

const VERDICTS: { readonly [verdict: number]: string } = {
  [NO]: 'no',
  [VIOLATED]: 'no',
  [UNKNOWN]: 'conditional',
  [YES]: 'yes',
}

function checkText({ model, index, checker }: Engine, query: QueryOf<'check'>, holds: ConditionVerdict): string {
  const { permission: relation, resource } = query
  const question = resolveSetQuestion(model, index, { subject: query.subject, relation, resource })
  if ('reason' in question) return REFUSED
  return VERDICTS[checker.check(question, holds, true)] ?? 'no'
}

function foundResources({ lookups }: Engine, query: QueryOf<'resources'>, holds: ConditionVerdict): string {
  const { permission: relation, type: resourceType } = query
  const found = lookups.resources({ subject: query.subject, relation, resourceType }, holds)
  return 'reason' in found ? REFUSED : resourcesText(marked(found))
}

function foundSubjects({ lookups }: Engine, query: QueryOf<'subjects'>, holds: ConditionVerdict): string {
  const { permission: relation, subjects: subjectType, resource } = query
  const found = lookups.subjects({ subjectType, relation, resource }, holds)
  if ('reason' in found) return REFUSED
  const named = marked(found).map((each) => ({ ...each, excluded: [] }))
  return subjectsText([...named, ...everyone(found)])
}

/** For questions that name something unknown. */
const REFUSED = 'refused'

const idOf = (reference: string): string => reference.slice(reference.indexOf(':') + 1)

function marked({ granted, conditional }: { granted: readonly string[]; conditional: readonly string[] }) {
  return [
    ...granted.map((reference) => ({ id: idOf(reference), isConditional: false })),
    ...conditional.map((reference) => ({ id: idOf(reference), isConditional: true })),
  ]
}

/** Those who are told as conditional are it whatever the wildcard gives to everyone else. */
function everyone({ wildcard, conditional }: FoundSubjects) {
  if (wildcard === undefined) return []
  const excluded = [
    ...wildcard.excluded.map((reference) => ({ id: idOf(reference), isConditional: false })),
    ...conditional.map((reference) => ({ id: idOf(reference), isConditional: true })),
  ]
  return [{ id: '*', isConditional: wildcard.verdict === 'conditional', excluded }]
}

import { Checker } from '../../../src/shared/authz/engine/checker.ts'
import type { ConditionVerdict } from '../../../src/shared/authz/engine/question.ts'
import { resolveSetQuestion } from '../../../src/shared/authz/engine/resolve-question.ts'
import { TupleIndex } from '../../../src/shared/authz/engine/tuple-index.ts'
import { NO, UNKNOWN, VIOLATED, YES } from '../../../src/shared/authz/engine/verdict.ts'
import { compileSchema } from '../../../src/shared/authz/language/compile.ts'
import { parseSchema } from '../../../src/shared/authz/language/parser.ts'
import type { Model } from '../../../src/shared/authz/model.ts'
import type { TupleColumns } from '../../../src/shared/authz/tuple.ts'

const FORM = /^(\w+):(.+?)#([\w-]+)@(\w+):(.+?)(?:#([\w-]+))?(?:\[(\w+)\])?$/

/** Reads `resource:id#relation@subject:id`, with `#relation` behind the subject and `[caveat]` at the end where wanted. */
export function tuple(text: string, domainId: string | null = null): TupleColumns {
  const parts = FORM.exec(text)
  if (parts === null) throw new Error(`not a tuple: ${text}`)
  const [, resourceType = '', resourceId = '', relation = '', subjectType = '', subjectId = '', userset, caveat] = parts
  return {
    subject_type: subjectType,
    subject_id: subjectId,
    subject_relation: userset ?? '',
    relation,
    resource_type: resourceType,
    resource_id: resourceId,
    caveat_name: caveat ?? '',
    domain_id: domainId,
  }
}

export type Answer = 'yes' | 'no' | 'violated' | 'unknown' | `refused: ${string}`

const ANSWERS: { readonly [verdict: number]: Answer } = {
  [NO]: 'no',
  [VIOLATED]: 'violated',
  [UNKNOWN]: 'unknown',
  [YES]: 'yes',
}

/** An index with questions in plain text, over any schema. Caveats are unknown unless `holds` says otherwise. */
export function engineOf(schema: Model | string, tuples: readonly string[], holds: ConditionVerdict = () => UNKNOWN) {
  const model = typeof schema === 'string' ? compileSchema(parseSchema(schema)) : schema
  const index = new TupleIndex(model)
  const checker = new Checker(index)
  for (const text of tuples) {
    if (index.touch(tuple(text), 0) === 'unknown') throw new Error(`the schema does not allow ${text}`)
  }

  /** Asks `resource:id#relation@subject:id`, or of `subject:id#relation`. */
  function ask(text: string): Answer {
    const [asked = '', subject = ''] = text.split('@')
    const [resource = '', relation = ''] = asked.split('#')
    const question = resolveSetQuestion(model, index, { subject, relation, resource })
    if ('reason' in question) return `refused: ${question.part} ${question.reason}`
    return ANSWERS[checker.check(question, holds, true)] ?? 'no'
  }

  return { model, index, checker, ask, path: (text: string) => (ask(text) === 'yes' ? checker.path() : undefined) }
}

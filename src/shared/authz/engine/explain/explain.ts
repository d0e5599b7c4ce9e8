import type { ExplainedCheck, ProposedTuple } from '../../explanation.ts'
import type { TupleEdit } from '../../impact.ts'
import type { Model } from '../../model.ts'
import { parseTupleReference } from '../../reference.ts'
import type { Checker } from '../checker.ts'
import type { ConditionVerdict } from '../question.ts'
import { UndecidableError } from '../undecidable.ts'
import { resolveSetQuestion, storedReference, type Asking, type QuestionFault } from '../resolve-question.ts'
import type { TupleIndex } from '../tuple-index.ts'
import { whole, type Steps } from '../../../steps.ts'
import { YES } from '../verdict.ts'
import { ExplainTree, outcomeOf, type MissingFields } from './explain-tree.ts'
import { referenceNames } from './reference-names.ts'
import { RemedySearch, type Remedy } from './remedy-search.ts'
import { SubQuestions } from './sub-questions.ts'
import { tryEdits } from './try-edits.ts'

/** Sets of tuples that an explanation proposes. */
export const REMEDIES_MAX = 10

export interface ExplainDeps {
  readonly model: Model
  readonly index: TupleIndex
  readonly checker: Checker
}

export interface ExplainOptions {
  readonly holds: ConditionVerdict
  readonly missing: MissingFields
  /** Whether the subject could be granted something on the resource, for rules that the schema does not have; both `<type>:<id>`. */
  readonly mayBind: (subject: string, resource: string) => boolean
}

/**
 * Answers a check with the tree of its decision and, where it is not granted, the cheapest sets of tuples that would
 * grant it, each of them tried.
 * @throws UndecidableError
 */
export function explain(deps: ExplainDeps, asking: Asking, options: ExplainOptions): ExplainedCheck | QuestionFault {
  const explained = whole(explainInSteps(deps, asking, options))
  return 'reason' in explained ? explained : withRemedies(explained, { deps, asking, options })
}

/** An explanation whose remedies have not been tried yet. */
export interface UntriedExplanation extends Pick<ExplainedCheck, 'outcome' | 'tree'> {
  readonly untried: readonly Remedy[]
}

/** Keeps the remedies that help. Tries them in the index as it is now, which must be the present. */
export function withRemedies({ untried, ...explained }: UntriedExplanation, trial: Trial): ExplainedCheck {
  return { ...explained, remedies: proven(untried, trial) }
}

/**
 * The same in steps, but for trying the remedies. The first step names objects, so that it must be made in the present; the
 * index must be in the same state at each later one.
 * @throws UndecidableError
 */
export function* explainInSteps(
  deps: ExplainDeps,
  asking: Asking,
  options: ExplainOptions,
): Steps<UntriedExplanation | QuestionFault> {
  const { model, index, checker } = deps
  const question = resolveSetQuestion(model, index, asking)
  if ('reason' in question) return question
  const { holds, missing } = options
  const verdict = checker.check(question, holds, false)
  const asked = { index, checker, question, holds, questions: new SubQuestions({ index, checker, question, holds }) }
  const names = referenceNames(model, index, storedReference(asking.resource))
  const tree = yield* new ExplainTree({ ...asked, names, missing }).build()
  if (verdict === YES) return { outcome: 'granted', tree, untried: [] }
  const untried = yield* new RemedySearch({ ...asked, names, subject: storedReference(asking.subject) }).find()
  return { outcome: outcomeOf(verdict), tree, untried }
}

/** What was asked, to try remedies. */
export interface Trial {
  readonly deps: ExplainDeps
  readonly asking: Asking
  readonly options: ExplainOptions
}

/** The sets that grant it when tried, without those that contain another one. */
function proven(remedies: readonly Remedy[], trial: Trial): (readonly ProposedTuple[])[] {
  const kept: (readonly ProposedTuple[])[] = []
  for (const { tuples } of remedies) {
    if (kept.length === REMEDIES_MAX) break
    if (!kept.some((fewer) => isWithin(fewer, tuples)) && helps(tuples, trial)) kept.push(tuples)
  }
  return kept
}

function isWithin(fewer: readonly ProposedTuple[], more: readonly ProposedTuple[]): boolean {
  return fewer.every((tuple) =>
    more.some(({ relation, resource }) => relation === tuple.relation && resource === tuple.resource),
  )
}

function helps(tuples: readonly ProposedTuple[], { deps, asking, options }: Trial): boolean {
  if (!tuples.every(({ subject, resource }) => options.mayBind(subject, resource))) return false
  const edits = tuples.map(creation)
  const tried = tryEdits(deps, edits, () => {
    const question = resolveSetQuestion(deps.model, deps.index, asking)
    return 'reason' in question ? false : isGranted(() => deps.checker.check(question, options.holds, false) === YES)
  })
  return 'answer' in tried && tried.answer
}

function isGranted(check: () => boolean): boolean {
  try {
    return check()
  } catch (error) {
    if (error instanceof UndecidableError) return false
    throw error
  }
}

function creation({ subject, relation, resource }: ProposedTuple): TupleEdit {
  const { type: subjectType = '', id: subjectId = '' } = parseTupleReference(subject) ?? {}
  const { type: resourceType = '', id: resourceId = '' } = parseTupleReference(resource) ?? {}
  const tuple = {
    subject_type: subjectType,
    subject_id: subjectId,
    subject_relation: '',
    relation,
    resource_type: resourceType,
    resource_id: resourceId,
    caveat_name: '',
    domain_id: null,
  }
  return { op: 'create', tuple }
}

import type { Model, RelationModel, SubjectRule, TypeModel } from './model.ts'
import type { TupleColumns } from './tuple.ts'

/** A tuple whose names the model knows and allows. */
export interface ResolvedTuple {
  readonly resourceType: TypeModel
  readonly relation: RelationModel
  readonly rule: SubjectRule
}

/** Why the model refuses a tuple, and for which part. */
export interface Mismatch {
  readonly part: 'subject' | 'relation' | 'resource' | 'caveat'
  /** `unknown`: there is no such name. `not_allowed`: the name is not allowed there. */
  readonly reason: 'unknown' | 'not_allowed'
}

/** Finds the relation of a tuple and the subject rule that admits it; else the first invalid part. */
export function findRule(model: Model, tuple: TupleColumns): ResolvedTuple | Mismatch {
  const resourceType = model.type(tuple.resource_type)
  if (resourceType === undefined) return { part: 'resource', reason: 'unknown' }
  const relation = resourceType.writable.get(tuple.relation)
  if (relation === undefined) return { part: 'relation', reason: 'unknown' }
  const subjectType = model.type(tuple.subject_type)
  if (subjectType === undefined) return { part: 'subject', reason: 'unknown' }
  const rule = findSubjectRule(relation, subjectType, tuple)
  return rule === undefined ? mismatchOf(model, relation, tuple) : { resourceType, relation, rule }
}

function findSubjectRule(relation: RelationModel, type: TypeModel, tuple: TupleColumns): SubjectRule | undefined {
  const expires = tuple.expires_at_ms !== undefined
  for (const rule of relation.subjects) {
    const fits = rule.type === type && rule.expires === expires && admitsSubject(rule, tuple)
    if (fits && (rule.caveat?.name ?? '') === tuple.caveat_name) return rule
  }
  return undefined
}

function admitsSubject({ kind, relation }: SubjectRule, tuple: TupleColumns): boolean {
  if (kind === 'userset') return relation?.name === tuple.subject_relation && tuple.subject_id !== '*'
  return tuple.subject_relation === '' && (kind === 'wildcard') === (tuple.subject_id === '*')
}

function mismatchOf(model: Model, { subjects }: RelationModel, tuple: TupleColumns): Mismatch {
  const takesSubject = subjects.some((rule) => rule.type.name === tuple.subject_type && admitsSubject(rule, tuple))
  if (!takesSubject) return { part: 'subject', reason: 'not_allowed' }
  const isKnown = tuple.caveat_name === '' || model.caveats.has(tuple.caveat_name)
  return { part: 'caveat', reason: isKnown ? 'not_allowed' : 'unknown' }
}

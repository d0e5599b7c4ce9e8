import { Checker } from '../engine/checker.ts'
import type { ConditionVerdict, Question } from '../engine/question.ts'
import { NONE } from '../engine/edge-chains.ts'
import { NO_OBJECT } from '../engine/object-table.ts'
import { TupleIndex } from '../engine/tuple-index.ts'
import { UNKNOWN, YES } from '../engine/verdict.ts'
import type { Outcome } from '../explanation.ts'
import type { Model, TypeModel } from '../model.ts'
import { columnsOf } from './load-relationships.ts'
import type { Relationship } from './parse-relationship.ts'
import { nameOf, type ObjectRelation, type SubjectReference } from './references.ts'

/** Answers questions from the relationships of one file. */
export interface Questions {
  readonly model: Model
  readonly index: TupleIndex
  readonly checker: Checker
  /** If the schema lacks a name, the answer is a denial. @throws UndecidableError */
  ask(resource: ObjectRelation, subject: SubjectReference, holds: ConditionVerdict): Outcome
}

export function createQuestions(model: Model, relationships: readonly Relationship[]): Questions {
  const index = new TupleIndex(model)
  for (const relationship of relationships) index.touch(columnsOf(relationship), 0)
  const checker = new Checker(index)

  const numberOf = (type: TypeModel, id: string): number => index.objects.find(type.index, id, 0)

  function put(resource: ObjectRelation, asker: SubjectReference): Question | undefined {
    const resourceType = model.type(resource.type)
    const subjectType = model.type(asker.type)
    const asked = resourceType?.askable.get(resource.relation)
    if (resourceType === undefined || subjectType === undefined || asked === undefined) return undefined
    const userset = subjectType.askable.get(asker.relation)
    if (asker.relation !== '' && userset === undefined) return undefined
    const object = numberOf(resourceType, resource.id)
    if (object !== NONE)
      return { subjectType, subject: numberOf(subjectType, asker.id), asked, resource: object, userset }
    const isItself = nameOf({ ...resource, relation: '' }) === nameOf({ ...asker, relation: '' })
    const subject = isItself ? NO_OBJECT : numberOf(subjectType, asker.id)
    return { subjectType, subject, asked, resource: NO_OBJECT, userset }
  }

  return {
    model,
    index,
    checker,
    ask(resource, subject, holds) {
      const question = put(resource, subject)
      const verdict = question === undefined ? undefined : checker.check(question, holds, false)
      if (verdict === YES) return 'granted'
      return verdict === UNKNOWN ? 'conditional' : 'denied'
    },
  }
}

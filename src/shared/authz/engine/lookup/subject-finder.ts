import type { Askable, Model, TypeModel } from '../../model.ts'
import type { ConditionVerdict } from '../question.ts'
import type { TupleIndex } from '../tuple-index.ts'
import { subjectReach, type SubjectReach } from './subject-reach.ts'
import type { SubjectSet } from './subject-set.ts'
import { SubjectWalk } from './subject-walk.ts'

/** Finds the subjects of one type that have something on an object. */
export interface SubjectFinder {
  /** @throws UndecidableError */
  find(object: number, asked: Askable, type: TypeModel): SubjectSet
  /** Whether subjects of the type can have it at all. */
  canHave(asked: Askable, type: TypeModel): boolean
}

/** Makes a finder for one answer. `reaches` is what was found of the model before. */
export function createSubjectFinder(
  { model, index }: { readonly model: Model; readonly index: TupleIndex },
  reaches: Map<TypeModel, SubjectReach>,
  holds: ConditionVerdict,
): SubjectFinder {
  function reachOf(type: TypeModel): SubjectReach {
    const reach = reaches.get(type) ?? subjectReach(model, type)
    reaches.set(type, reach)
    return reach
  }

  return {
    find: (object, asked, type) => new SubjectWalk({ index, type, reach: reachOf(type), holds }).run(object, asked),
    canHave: (asked, type) => reachOf(type)[asked.id] === 1,
  }
}

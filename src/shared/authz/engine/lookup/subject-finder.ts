import type { Askable, Model, TypeModel } from '../../model.ts'
import type { ConditionVerdict } from '../question.ts'
import { whole, type Steps } from '../../../steps.ts'
import type { TupleIndex } from '../tuple-index.ts'
import { subjectReachability, type SubjectReachability } from './subject-reachability.ts'
import type { SubjectSet } from './subject-set.ts'
import { SubjectWalk } from './subject-walk.ts'

/** Finds the subjects of one type that have something on an object. */
export interface SubjectFinder {
  /** @throws UndecidableError */
  find(object: number, asked: Askable, type: TypeModel): SubjectSet
  /** The same, in steps. @throws UndecidableError */
  findInSteps(object: number, asked: Askable, type: TypeModel): Steps<SubjectSet>
  /** Whether subjects of the type can have it at all. */
  canHave(asked: Askable, type: TypeModel): boolean
}

/** Makes a finder for one answer. `reachabilities` is what was found of the model before. */
export function createSubjectFinder(
  { model, index }: { readonly model: Model; readonly index: TupleIndex },
  reachabilities: Map<TypeModel, SubjectReachability>,
  holds: ConditionVerdict,
): SubjectFinder {
  function reachabilityOf(type: TypeModel): SubjectReachability {
    const reach = reachabilities.get(type) ?? subjectReachability(model, type)
    reachabilities.set(type, reach)
    return reach
  }

  function findInSteps(object: number, asked: Askable, type: TypeModel): Steps<SubjectSet> {
    return new SubjectWalk({ index, type, reach: reachabilityOf(type), holds }).run(object, asked)
  }

  return {
    findInSteps,
    find: (object, asked, type) => whole(findInSteps(object, asked, type)),
    canHave: (asked, type) => reachabilityOf(type)[asked.id] === 1,
  }
}

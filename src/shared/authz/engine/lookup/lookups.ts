import type { Model, TypeModel } from '../../model.ts'
import type { Checker } from '../checker.ts'
import type { ConditionVerdict } from '../question.ts'
import { NO_OBJECT } from '../object-table.ts'
import {
  resolveQuestion,
  resolveSetQuestion,
  storedReference,
  type Asking,
  type QuestionFault,
} from '../resolve-question.ts'
import { whole, type Steps } from '../../../steps.ts'
import type { TupleIndex } from '../tuple-index.ts'
import { NO, YES } from '../verdict.ts'
import { orderedReferences } from './object-order.ts'
import { ResourceWalk, type Asker, type WalkBounds } from './resource-walk.ts'
import { reverseGraph } from './reverse-graph.ts'
import { createSubjectFinder } from './subject-finder.ts'
import type { SubjectReachability } from './subject-reachability.ts'
import { subjectNumbers } from './subject-numbers.ts'
import type { SubjectSet } from './subject-set.ts'

export interface LookupsDeps {
  readonly model: Model
  readonly index: TupleIndex
  readonly checker: Checker
}

export interface ResourcesAsking {
  /** `<type>:<id>`, or `<type>:<id>#<relation>` for the set itself. */
  readonly subject: string
  readonly relation: string
  readonly resourceType: string
}

export interface SubjectsAsking {
  readonly subjectType: string
  readonly relation: string
  /** `<type>:<id>`. */
  readonly resource: string
}

/** References `<type>:<id>` in the order of lookup results; none is in both. */
export interface FoundResources {
  readonly granted: readonly string[]
  /** Those that depend on missing values. */
  readonly conditional: readonly string[]
}

export interface FoundSubjects extends FoundResources {
  /**
   * Those of `granted`, and `<type>:*` where the wildcard grants everyone of the type without exception, in the order of
   * lookup results.
   */
  readonly unconditional: readonly string[]
  /** How far everyone else of the type has it. */
  readonly wildcard?: {
    readonly verdict: 'granted' | 'conditional'
    /** Those who do not, although everyone else does. */
    readonly excluded: readonly string[]
  }
}

/**
 * Finds whole sets by walks that visit only nodes that lead to a result. Every answer equals the checks of each object
 * or subject.
 */
export interface Lookups {
  /** The objects on which a subject has a relation or permission. @throws UndecidableError */
  resources(asking: ResourcesAsking, holds: ConditionVerdict): FoundResources | QuestionFault
  /**
   * The same objects by id, in no order, those that depend on missing values left out. Undefined where there are more, or finding
   * them takes more than the bounds allow. @throws UndecidableError
   */
  fewResources(
    asking: ResourcesAsking,
    holds: ConditionVerdict,
    bounds: WalkBounds,
  ): readonly string[] | undefined | QuestionFault
  /** The subjects that have a relation or permission on a resource. `wildcard` represents subjects that no tuple names. @throws UndecidableError */
  subjects(asking: SubjectsAsking, holds: ConditionVerdict): FoundSubjects | QuestionFault
  /**
   * The same answers in steps, several under way at once. The first step names objects, so that it must be made in the
   * present; the index must be in the same state at each later one.
   */
  readonly inSteps: LookupsInSteps
}

export interface LookupsInSteps {
  /** @throws UndecidableError */
  resources(asking: ResourcesAsking, holds: ConditionVerdict): Steps<FoundResources | QuestionFault>
  /** @throws UndecidableError */
  subjects(asking: SubjectsAsking, holds: ConditionVerdict): Steps<FoundSubjects | QuestionFault>
}

const NOTHING: FoundResources = { granted: [], conditional: [] }
const NOBODY: FoundSubjects = { ...NOTHING, unconditional: [] }

/** An id that may be asked about, where only the type matters. */
const ANY_ID = '-'

const idIn = (reference: string): string => reference.slice(reference.indexOf(':') + 1)

const objectOf = (subject: string): string => subject.split('#', 1)[0] ?? ''

/** Lookups over an index. Reads the model once; give each index its own. */
export function createLookups({ model, index, checker }: LookupsDeps): Lookups {
  const walked = { index, checker, graph: reverseGraph(model, 'granting') }
  /** One walk whose room is kept, while none is under way. */
  let idle: ResourceWalk | undefined = new ResourceWalk(walked)
  const reachabilities = new Map<TypeModel, SubjectReachability>()

  const ordered = (type: TypeModel, objects: Int32Array) => orderedReferences(index, type.name, objects)

  /** Lets the work walk; of walks at the same time, the last to end leaves its room. */
  function* walking<T>(work: (walk: ResourceWalk) => Steps<T>): Steps<T> {
    const walk = idle ?? new ResourceWalk(walked)
    idle = undefined
    try {
      return yield* work(walk)
    } finally {
      idle = walk
    }
  }

  function* foundIn(type: TypeModel, set: SubjectSet): Steps<FoundSubjects> {
    const { granted, unknown, denied } = yield* subjectNumbers(set)
    const conditional = yield* ordered(type, unknown)
    const names = yield* ordered(type, granted)
    if (set.everyone === NO) return { granted: names, conditional, unconditional: names }
    const excluded = yield* ordered(type, denied)
    const isEveryone = set.everyone === YES && unknown.length + denied.length === 0
    const unconditional = isEveryone ? yield* ordered(type, withFirst(index.wildcard(type), granted)) : names
    const verdict = set.everyone === YES ? 'granted' : 'conditional'
    return { granted: names, conditional, unconditional, wildcard: { verdict, excluded } }
  }

  /** An object that no tuple names has nothing but what it has on itself. */
  function ofItself(asking: Asking, holds: ConditionVerdict): FoundResources {
    const question = resolveSetQuestion(model, index, asking)
    if ('reason' in question || question.subject !== NO_OBJECT) return NOTHING
    const verdict = checker.check(question, holds, false)
    return verdict === YES ? { granted: [storedReference(asking.resource)], conditional: [] } : NOTHING
  }

  const anyOf = ({ resourceType, ...asking }: ResourcesAsking) =>
    resolveSetQuestion(model, index, { ...asking, resource: `${resourceType}:${ANY_ID}` })

  /** What a subject that no tuple names has on itself. */
  function ofUnnamed({ asked, subject, subjectType }: Asker, asking: ResourcesAsking, holds: ConditionVerdict) {
    const isAlone = subject <= NO_OBJECT && subjectType === asked.type
    return isAlone ? ofItself({ ...asking, resource: objectOf(asking.subject) }, holds).granted : []
  }

  const inSteps: LookupsInSteps = {
    *resources(asking, holds) {
      const question = anyOf(asking)
      if ('reason' in question) return question
      const { asked } = question
      const itself = ofUnnamed(question, asking, holds)
      const { granted, conditional } = yield* walking((walk) => walk.run(question, holds))
      const names = yield* ordered(asked.type, granted)
      return {
        granted: itself.length > 0 ? [...itself, ...names] : names,
        conditional: yield* ordered(asked.type, conditional),
      }
    },
    *subjects({ subjectType, relation, resource }, holds) {
      const question = resolveQuestion(model, index, { subject: `${subjectType}:${ANY_ID}`, relation, resource })
      if ('reason' in question) return question
      const { subjectType: type, asked } = question
      if (question.resource === NO_OBJECT) {
        if (type !== asked.type) return NOBODY
        const itself = ofItself({ subject: resource, relation, resource }, holds)
        return { ...itself, unconditional: itself.granted }
      }
      const finder = createSubjectFinder({ model, index }, reachabilities, holds)
      return yield* foundIn(type, yield* finder.findInSteps(question.resource, asked, type))
    },
  }

  return {
    inSteps,
    resources: (asking, holds) => whole(inSteps.resources(asking, holds)),
    subjects: (asking, holds) => whole(inSteps.subjects(asking, holds)),
    fewResources(asking, holds, bounds) {
      const question = anyOf(asking)
      if ('reason' in question) return question
      const found = whole(walking((walk) => walk.runWithin(bounds, question, holds)))
      if (found === undefined) return undefined
      const ids = [...found.granted].map((object) => index.objects.idOf(object))
      const itself = ofUnnamed(question, asking, holds).map((reference) => idIn(reference))
      return ids.length + itself.length > bounds.objects ? undefined : [...itself, ...ids]
    },
  }
}

function withFirst(first: number, others: Int32Array): Int32Array {
  const all = new Int32Array(others.length + 1)
  all[0] = first
  all.set(others, 1)
  return all
}

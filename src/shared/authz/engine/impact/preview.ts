import { findRule } from '../../find-rule.ts'
import type { Impact, PermissionChange, TupleEdit } from '../../impact.ts'
import type { Model, TypeModel } from '../../model.ts'
import type { Checker } from '../checker.ts'
import type { ConditionVerdict } from '../question.ts'
import { NONE } from '../edge-chains.ts'
import { tryEdits, withEdits, type EditFault } from '../explain/try-edits.ts'
import { reverseGraph } from '../lookup/reverse-graph.ts'
import { createSubjectFinder, type SubjectFinder } from '../lookup/subject-finder.ts'
import type { SubjectReachability } from '../lookup/subject-reachability.ts'
import type { TupleIndex } from '../tuple-index.ts'
import { AffectedWalk, type ChangedSet } from './affected.ts'
import { changesOf } from './changes.ts'
import {
  createHolderQuestions,
  EVERYONE,
  type HoldersByType,
  type NamedObject,
  type NamedPermission,
} from './holders.ts'
import { modelTraits } from './model-traits.ts'

/**
 * Checks that one preview makes of each of the two states, and subjects that it looks at where it takes all of them. So
 * many keep the event loop for about 100 ms.
 */
export const QUESTIONS_MAX = 10_000

/** Subjects that are asked about one by one; of more, all that have the permission are found instead. */
const ASKERS_MAX = 50

export interface PreviewDeps {
  readonly model: Model
  readonly index: TupleIndex
  readonly checker: Checker
}

export interface PreviewOptions {
  readonly holds: ConditionVerdict
  /** Maximum of changes to return; all are counted. */
  readonly changesMax: number
}

interface Affected {
  readonly permissions: readonly NamedPermission[]
  /** False where there are more. */
  readonly isComplete: boolean
}

/**
 * Computes who would gain or lose which permission on what if the edits were made; or why the first that could not be written
 * is refused. Makes them in the index itself and reverts them before it returns, so that the answer is exact and costs
 * no copy. One `<type>:*` represents all subjects that no tuple names.
 */
export type Preview = (edits: readonly TupleEdit[], options: PreviewOptions) => Impact | EditFault

/** Previews over an index. Reads the model once; give each index its own. */
export function createPreview(deps: PreviewDeps): Preview {
  const { model, index, checker } = deps
  const graph = reverseGraph(model, 'any')
  const traits = modelTraits(model)
  const reachabilities = new Map<TypeModel, SubjectReachability>()

  /** Permissions that may change, the nearest of them, found where all tuples are that are there before or after. */
  function affectedBy(edits: readonly TupleEdit[], most: number): Affected {
    const created = edits.filter(({ op }) => op === 'create')
    return withEdits(deps, created, () => {
      const changed = edits.flatMap((edit) => changedSet(deps, edit))
      const { permissions, isComplete } = new AffectedWalk(index, graph).run(changed)
      const named = permissions.slice(0, most).map(({ object, permission }) => {
        return { resource: { type: permission.type, id: index.objects.idOf(object) }, permission }
      })
      return { permissions: named, isComplete: isComplete && named.length === permissions.length }
    })
  }

  /** Whether the subjects of the edits are all whom they can concern. */
  function isBounded(edits: readonly TupleEdit[]): boolean {
    return edits.every(({ tuple }) => {
      const found = findRule(model, tuple)
      const isFollowed = !('reason' in found) && traits.followed.has(found.relation)
      return !isFollowed && (traits.isPlain || tuple.subject_id !== EVERYONE)
    })
  }

  /** The subjects that the edits name, and the current members of the sets that they name. */
  function askersOf(edits: readonly TupleEdit[], finder: SubjectFinder): NamedObject[] {
    return edits.flatMap(({ tuple }) => {
      const type = model.type(tuple.subject_type)
      const member = type?.askable.get(tuple.subject_relation)
      if (type === undefined) return []
      if (member === undefined) return [{ type, id: tuple.subject_id }]
      const set = index.objects.find(type.index, tuple.subject_id, 0)
      return set === NONE ? [] : model.types.flatMap((each) => membersOf(index, each, finder.find(set, member, each)))
    })
  }

  return (edits, { holds, changesMax }) => {
    const finder = createSubjectFinder(deps, reachabilities, holds)
    const isKnown = isBounded(edits)
    const askers = isKnown ? askersOf(edits, finder) : []
    const after = tryEdits(deps, edits, () => (isKnown ? askersOf(edits, finder) : []))
    if (!('answer' in after)) return after
    const all = unique([...askers, ...after.answer])
    const questions = createHolderQuestions({ index, checker, types: model.types, finder, holds })
    const isAsked = isKnown && all.length <= ASKERS_MAX
    const asked = affectedBy(edits, isAsked ? Math.floor(QUESTIONS_MAX / Math.max(all.length, 1)) : QUESTIONS_MAX)
    const ask = (): HoldersByType[] =>
      isAsked ? questions.ofAskers(asked.permissions, all) : questions.ofAll(asked.permissions, QUESTIONS_MAX)
    const before = ask()
    const changed = changesOf(asked.permissions, before, withEdits(deps, edits, ask))
    const changes = changed.changes.toSorted(byResource)
    return {
      changes: changes.slice(0, changesMax),
      count: changes.length,
      isComplete: asked.isComplete && changed.isComplete,
    }
  }
}

function changedSet({ model, index }: PreviewDeps, { tuple }: TupleEdit): ChangedSet[] {
  const found = findRule(model, tuple)
  if ('reason' in found) return []
  const object = index.objects.find(found.resourceType.index, tuple.resource_id, 0)
  return object === NONE ? [] : [{ object, relation: found.relation }]
}

function membersOf(index: TupleIndex, type: TypeModel, set: ReturnType<SubjectFinder['find']>): NamedObject[] {
  const named = [...set.named.keys()].map((row) => ({ type, id: index.objects.idOf(row) }))
  return set.everyone === 0 ? named : [...named, { type, id: EVERYONE }]
}

function unique(objects: readonly NamedObject[]): NamedObject[] {
  return [...new Map(objects.map((object) => [`${object.type.name}:${object.id}`, object])).values()]
}

function byResource(a: PermissionChange, b: PermissionChange): number {
  return order(a.resource, b.resource) || order(a.permission, b.permission) || order(a.subject, b.subject)
}

function order(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

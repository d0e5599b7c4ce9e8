import { NONE } from '../../../shared/authz/engine/edge-chains.ts'
import { objectNamed } from '../../../shared/authz/engine/resolve-question.ts'
import type { TupleIndex } from '../../../shared/authz/engine/tuple-index.ts'
import type { Model, RelationModel } from '../../../shared/authz/model.ts'
import { PLATFORM } from '../../../shared/ids.ts'
import type { OwningDomain } from '../../ports/authorizer.ts'

/**
 * Maximum of parent edges between an object and its Domain, as for a token: its owner, then the Domain. This server
 * writes no longer paths.
 */
const STEPS_MAX = 4

/**
 * Finds the Domain of an object by its parent edges; if an object has several, the first in the order of its type's
 * relations. Every object has parent edges: they are created and deleted with it.
 */
export function createObjectDomains(model: Model): (index: TupleIndex, reference: string) => OwningDomain {
  const parents = model.types.map(({ relations }) => relations.filter(({ structural }) => structural))
  const domain = model.type('domain')?.index
  const platform = model.type('platform')?.index

  return (index, reference) => {
    if (reference === PLATFORM) return null
    let object = objectNamed(model, index, reference)
    for (let step = 0; step <= STEPS_MAX && object !== NONE; step++) {
      const type = index.objects.typeOf(object)
      if (type === platform) return step === 0 ? undefined : null
      const parent = parentOf(index, object, parents[type] ?? [])
      if (type === domain) return parent === NONE ? undefined : index.objects.idOf(object)
      object = parent
    }
    return undefined
  }
}

function parentOf(index: TupleIndex, object: number, relations: readonly RelationModel[]): number {
  for (const relation of relations) {
    const set = index.mayHave(object, relation) ? index.sets.find(object, relation.id) : NONE
    const edge = set === NONE ? NONE : index.firstObjectSubject(set)
    if (edge !== NONE) return index.edges.b(edge) >> 1
  }
  return NONE
}

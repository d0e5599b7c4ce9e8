import type { Model } from '../../model.ts'
import { NO_OBJECT } from '../object-table.ts'
import { isSet, type TupleIndex } from '../tuple-index.ts'

/** Formats objects and subjects of an index as text. */
export interface ReferenceNames {
  /** `<type>:<id>`. */
  object(object: number): string
  /** The subject of an edge: `<type>:<id>`, `<type>:*` or `<type>:<id>#<relation>`. */
  subject(edge: number): string
}

/** `resource` is how the caller named the object that has no number. */
export function referenceNames(model: Model, index: TupleIndex, resource: string): ReferenceNames {
  const { objects, sets, edges, members } = index
  const object = (row: number): string =>
    row === NO_OBJECT ? resource : `${model.types[objects.typeOf(row)]?.name}:${objects.idOf(row)}`
  return {
    object,
    subject(edge) {
      const code = edges.b(edge)
      if (!isSet(code)) return object(code >> 1)
      return `${object(sets.objectOf(code >> 1))}#${members[sets.memberOf(code >> 1)]?.name}`
    },
  }
}

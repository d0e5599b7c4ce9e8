import type { Slice } from '../../http/slice.ts'
import { createRelationTuples, type RelationTuplesDeps } from './service.ts'

export { events } from './events.ts'

/** Relation tuples of a Project. */
export function createSlice(ports: RelationTuplesDeps): Slice<'relationTuples'> {
  return { handlers: { relationTuples: createRelationTuples(ports) } }
}

import type { Slice } from '../../http/slice.ts'
import { createObjectSearch, type ObjectSearchDeps } from './service.ts'

/** Selectors, and the objects that they match. */
export function createSlice(ports: ObjectSearchDeps): Slice<'objectSearch'> {
  return { handlers: { objectSearch: createObjectSearch(ports) } }
}

import type { Slice } from '../../http/slice.ts'
import { createMeta, type MetaDeps } from './service.ts'

/** The contract itself: the OpenAPI document and the documentation page. */
export function createSlice(ports: MetaDeps): Slice<'meta'> {
  return { handlers: { meta: createMeta(ports) } }
}

import type { Slice } from '../../http/slice.ts'
import { createResources, type ResourcesDeps } from './service.ts'

export { contents } from './contents.ts'
export { events } from './events.ts'

/** Resources: what a Project deploys. */
export function createSlice(ports: ResourcesDeps): Slice<'resources'> {
  return { handlers: { resources: createResources(ports) } }
}

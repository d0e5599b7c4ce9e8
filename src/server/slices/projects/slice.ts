import type { Slice } from '../../http/slice.ts'
import { createProjects, type ProjectsDeps } from './service.ts'

export { contents } from './contents.ts'
export { events } from './events.ts'

/** Projects: the parts of a Domain. */
export function createSlice(ports: ProjectsDeps): Slice<'projects'> {
  return { handlers: { projects: createProjects(ports) } }
}
